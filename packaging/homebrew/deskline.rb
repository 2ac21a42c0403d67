class Deskline < Formula
  desc "Drive native desktop apps from an AI agent through the accessibility tree"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

@ARCHIVES@
  def install
    bin.install "bin/deskline"
    libexec.install "libexec/deskline-grab" if OS.linux?
    man1.install Dir["share/man/man1/*"]
    bash_completion.install "share/bash-completion/completions/deskline"
    zsh_completion.install "share/zsh/site-functions/_deskline"
    fish_completion.install "share/fish/vendor_completions.d/deskline.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/deskline --version")
    ENV["DESKLINE_DIR"] = testpath/"journal"
    assert_match "No calls yet", shell_output("#{bin}/deskline log")
  end
end

class Deskline < Formula
  desc "@DESCRIPTION@"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  base = "@REPOSITORY@/releases/download/v@VERSION@/deskline-@VERSION@"

  on_linux do
    on_intel do
      url "#{base}-linux-x64.tar.gz"
      sha256 "@SHA256_LINUX_X64@"
    end
    on_arm do
      url "#{base}-linux-arm64.tar.gz"
      sha256 "@SHA256_LINUX_ARM64@"
    end
  end

  on_macos do
    on_intel do
      url "#{base}-darwin-x64.tar.gz"
      sha256 "@SHA256_DARWIN_X64@"
    end
    on_arm do
      url "#{base}-darwin-arm64.tar.gz"
      sha256 "@SHA256_DARWIN_ARM64@"
    end
  end

  def install
    bin.install Dir["bin/*"]
    libexec.install Dir["libexec/*"]
    share.install Dir["share/*"]
  end

  def caveats
    "Untested on macOS: it has never run on a real Mac." if OS.mac?
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/deskline --version")
  end
end

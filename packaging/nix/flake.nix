{
  description = "Drive native desktop apps from an AI agent through the accessibility tree";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "x86_64-darwin"
        "aarch64-darwin"
      ];
      forEach = f: nixpkgs.lib.genAttrs systems (system: f nixpkgs.legacyPackages.${system});
      workspace = (builtins.fromTOML (builtins.readFile ../../Cargo.toml)).workspace.package;
    in
    {
      packages = forEach (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "deskline";
          inherit (workspace) version;
          src = ../..;
          cargoLock.lockFile = ../../Cargo.lock;
          cargoBuildFlags = [
            "--package"
            "deskline"
          ]
          ++ pkgs.lib.optionals pkgs.stdenv.hostPlatform.isLinux [
            "--package"
            "deskline-grab"
          ];
          # The tests drive real apps on desktops of their own: scripts/test runs them.
          doCheck = false;
          nativeBuildInputs = [
            pkgs.installShellFiles
            pkgs.makeWrapper
          ];
          postInstall = ''
            mkdir manual
            $out/bin/deskline manual manual
            installManPage manual/*.1
            installShellCompletion --cmd deskline \
              --bash <($out/bin/deskline completions bash) \
              --zsh <($out/bin/deskline completions zsh) \
              --fish <($out/bin/deskline completions fish)
          ''
          + pkgs.lib.optionalString pkgs.stdenv.hostPlatform.isLinux ''
            mkdir $out/libexec
            mv $out/bin/deskline-grab $out/libexec
            # What a private desktop starts.
            wrapProgram $out/bin/deskline --suffix PATH : ${
              pkgs.lib.makeBinPath [
                pkgs.xorg.xorgserver
                pkgs.xfce.xfwm4
                pkgs.dbus
              ]
            }
          '';
          meta = {
            inherit (workspace) description;
            license = with pkgs.lib.licenses; [
              mit
              asl20
            ];
            mainProgram = "deskline";
            platforms = systems;
          };
        };
      });
    };
}

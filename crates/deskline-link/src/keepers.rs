//! Apps that keep or ask for passwords: closed to agents unless the person names them.

/// Executables and ids. A name matches an entry if it is equal to it, or starts with it and goes on
/// with anything but a letter: `pinentry-gtk-2`, `kwalletd6`.
#[rustfmt::skip]
const KEEPERS: [&str; 49] = [
    // Password managers and keyrings.
    "1password", "bitwarden", "buttercup", "com.apple.keychainaccess", "com.apple.passwords",
    "dashlane", "enpass", "gnome-keyring", "keepass", "keepassx", "keepassxc",
    "keeperpasswordmanager", "ksecretd", "kwalletd", "kwalletmanager", "lastpass", "nordpass",
    "org.gnome.world.secrets", "passwordsafe", "proton-pass", "pwsafe", "qtpass", "seahorse",
    // Prompts for passwords.
    "gcr-prompter", "gcr-ssh-askpass", "gcr4-ssh-askpass", "hyprpolkitagent", "kdesu",
    "ksshaskpass", "lxpolkit", "lxqt-openssh-askpass", "lxqt-policykit-agent", "pinentry", "polkit",
    "securityagent", "ssh-askpass", "systemd-tty-ask-password-agent", "x11-ssh-askpass",
    "xfce-polkit", "com.apple.localauthentication.uiagent", "consent.exe", "credentialuibroker.exe",
    // Logins and lock screens.
    "kscreenlocker_greet", "lightdm-gtk-greeter", "loginwindow", "logonui.exe", "sddm-greeter",
    "slick-greeter", "unity-greeter",
];

/// Whether the system knows an app by the name of one that keeps or asks for passwords.
pub(crate) fn is_keeper<'n>(mut names: impl Iterator<Item = &'n String>) -> bool {
    names.any(|name| {
        let name = name.to_lowercase();
        KEEPERS.iter().any(|keeper| {
            let rest = name.strip_prefix(keeper);
            rest.is_some_and(|rest| !rest.starts_with(char::is_alphabetic))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn password_apps_and_prompts_are_recognized_by_name() {
        let is = |name: &str| is_keeper([&name.to_owned()].into_iter());
        for keeper in [
            "KeePassXC",
            "pinentry-gtk-2",
            "polkit-gnome-authentication-agent-1",
            "kwalletd6",
        ] {
            assert!(is(keeper), "{keeper}");
        }
        for other in ["mousepad", "pinentryfoo", "/home/polkit/app", "keys"] {
            assert!(!is(other), "{other}");
        }
    }
}

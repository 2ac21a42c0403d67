//! How macOS identifies this program: by its path and its signature. These decide whether a
//! permission granted to the program lasts, and whether macOS lets the program run from its folder.

use std::path::Path;

use deskline_contract::doctor::Check;

use crate::os::Os;

const CODESIGN: &str = "/usr/bin/codesign";
const XATTR: &str = "/usr/bin/xattr";

/// The attribute that browsers, Mail and other apps set on downloaded files.
const QUARANTINE: &str = "com.apple.quarantine";

/// The flag in the value of [`QUARANTINE`] which shows that the person has allowed the program to
/// run (`QTN_FLAG_USER_APPROVED`, in xnu's and WebKit's sources).
const LET_IN: u32 = 0x40;

/// Parts of the paths of folders whose contents move with the next update, and the name of each
/// folder's manager.
const PASSING: [(&str, &str); 7] = [
    ("/AppTranslocation/", "macOS itself"),
    ("/_npx/", "npx"),
    ("/node_modules/", "npm"),
    ("/archive-v0/", "uvx"),
    ("/uv/tools/", "uv"),
    ("/site-packages/", "pip"),
    ("/Cellar/", "Homebrew"),
];

/// The signature of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Signature {
    /// `codesign` could not be run.
    Unknown,
    /// No signature. On Apple's processors macOS does not run such programs.
    None,
    /// An ad-hoc signature: the program is identified by a hash, so each build is another program.
    AdHoc,
    /// A certificate with this name: the program is identified by the certificate and an
    /// identifier, which stay the same in updates.
    Identity(String),
}

impl Signature {
    /// Parses what `codesign --display --verbose=2` writes.
    fn parse(output: &str) -> Self {
        let field = |name| {
            let mut lines = output.lines();
            lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
        };
        match (field("Authority"), field("Signature")) {
            (Some(authority), _) => Self::Identity(authority.to_owned()),
            (None, Some("adhoc")) => Self::AdHoc,
            _ if output.contains("not signed at all") => Self::None,
            _ => Self::Unknown,
        }
    }
}

/// Whether macOS will ask the person before it runs a program with this value of [`QUARANTINE`],
/// such as `0083;5f7b1c00;Safari;UUID`.
fn is_held_back(mark: &str) -> bool {
    let flags = mark.split(';').next().unwrap_or_default();
    u32::from_str_radix(flags.trim(), 16).is_ok_and(|flags| flags & LET_IN == 0)
}

/// The package manager that has put this program in a folder that changes with the next update or
/// start.
pub(crate) fn passing(path: &Path) -> Option<&'static str> {
    let path = path.to_string_lossy();
    let found = PASSING.iter().find(|(part, _)| path.contains(part));
    found.map(|(_, whose)| *whose)
}

/// The command that installs this program in a lasting folder.
pub(crate) const INSTALL: &str = "Run `deskline install CLIENT` once, which puts Deskline.app in \
                                  ~/Applications and names it in the client's configuration, \
                                  restart the client, and turn on Deskline";

/// The command that forgets a permission, and the app's id.
pub(crate) const RESET: &str = "tccutil reset";
pub(crate) const ID: &str = "dev.deskline.deskline";

/// The doctor's line about the program at `exe`. `own` says whether the permissions that apply are
/// those of this program, not of another one. An updater may change its folder:
/// [`Holder::detour`](crate::permissions::Holder::detour) finds out.
pub(crate) fn check<O: Os>(os: &O, own: bool, exe: &Path) -> Check {
    const NAME: &str = "program";
    let at = exe.display();
    let mut ancestors = exe.ancestors();
    let app = ancestors.find(|path| path.extension().is_some_and(|kind| kind == "app"));
    let whole = app.unwrap_or(exe).to_string_lossy();
    if exe.to_string_lossy().contains(PASSING[0].0) {
        return Check::warn(
            NAME,
            format!(
                "macOS runs it from a temporary copy ({at}), as it was never moved out of the \
                 folder that it was downloaded to"
            ),
            "move Deskline.app to your Applications folder with the Finder, and start it from there",
        );
    }
    let mark = os.tool(XATTR, &["-p", QUARANTINE, &whole]);
    if mark.is_some_and(|mark| is_held_back(&mark)) {
        return Check::warn(
            NAME,
            format!(
                "{whole} was downloaded or came in a message, and macOS has not approved it \
                yet"
            ),
            format!(
                "open it once, then System Settings › Privacy & Security › Open Anyway; or, if you \
                 trust where it came from: xattr -dr {QUARANTINE} '{whole}'"
            ),
        );
    }
    let signed = os.tool(CODESIGN, &["--display", "--verbose=2", &whole]);
    let signature = signed.map_or(Signature::Unknown, |text| Signature::parse(&text));
    if signature == Signature::None {
        return Check::warn(
            NAME,
            format!("{whole} is not signed: Macs with Apple's processors run only signed programs"),
            format!("codesign --force --sign - '{whole}', or take a release"),
        );
    }
    let with = match &signature {
        Signature::Identity(name) => format!("signed by {name}"),
        Signature::AdHoc => "signed ad hoc".to_owned(),
        Signature::Unknown | Signature::None => "of an unknown signature".to_owned(),
    };
    if !own {
        return Check::ok(NAME, format!("{whole}, {with}"));
    }
    if app.is_none() {
        return Check::warn(
            NAME,
            format!(
                "{at} is not an app: macOS 26.1 and later list no such program under Accessibility"
            ),
            INSTALL,
        );
    }
    match signature {
        Signature::AdHoc => Check::warn(
            NAME,
            format!("{whole} is signed ad hoc: to macOS each update is another program"),
            format!(
                "after an update run `{RESET} Accessibility {ID}`, and turn it on anew. A release \
                 that is signed with a Developer ID keeps its permission"
            ),
        ),
        _ => Check::ok(
            NAME,
            format!("{whole}, {with}: a permission outlives updates"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEVELOPER: &str = "Executable=/Applications/Deskline.app/Contents/MacOS/deskline\n\
        Identifier=dev.deskline.deskline\n\
        Format=app bundle with Mach-O universal (x86_64 arm64)\n\
        CodeDirectory v=20500 size=512 flags=0x10000(runtime) hashes=5+7 location=embedded\n\
        Signature size=8986\nAuthority=Developer ID Application: Jane Doe (AB12CD34EF)\n\
        Authority=Developer ID Certification Authority\nAuthority=Apple Root CA\n\
        TeamIdentifier=AB12CD34EF\n";
    const AD_HOC: &str = "Executable=/usr/local/bin/deskline\nIdentifier=deskline-5555\n\
        CodeDirectory v=20400 size=512 flags=0x20002(adhoc,linker-signed) hashes=5+0\n\
        Signature=adhoc\nInfo.plist=not bound\nTeamIdentifier=not set\n";

    #[test]
    fn a_signature_is_read_as_identity_ad_hoc_none_or_unknown() {
        let jane = "Developer ID Application: Jane Doe (AB12CD34EF)";
        for (output, wanted) in [
            (DEVELOPER, Signature::Identity(jane.into())),
            (AD_HOC, Signature::AdHoc),
            (
                "/tmp/a: code object is not signed at all\n",
                Signature::None,
            ),
            ("/tmp/a: No such file or directory\n", Signature::Unknown),
        ] {
            assert_eq!(Signature::parse(output), wanted, "{output}");
        }
    }

    #[test]
    fn a_quarantined_program_is_blocked_until_the_person_allows_it() {
        for (mark, held) in [
            ("0083;5f7b1c00;Safari;A1B2", true),
            ("0081;5f7b1c00;Chrome;", true),
            ("00c3;5f7b1c00;Safari;A1B2", false),
            ("xattr: /a/b: No such xattr: com.apple.quarantine", false),
        ] {
            assert_eq!(is_held_back(mark), held, "{mark}");
        }
    }

    #[test]
    fn folders_that_package_managers_replace_are_recognized() {
        for (path, whose) in [
            (
                "/Users/me/.npm/_npx/ab12/node_modules/x/bin/deskline",
                Some("npx"),
            ),
            ("/Users/me/.cache/uv/archive-v0/q/bin/deskline", Some("uvx")),
            (
                "/opt/homebrew/Cellar/deskline/0.2.0/bin/deskline",
                Some("Homebrew"),
            ),
            (
                "/private/var/folders/zz/T/AppTranslocation/A1/d/Deskline.app/Contents/MacOS/deskline",
                Some("macOS itself"),
            ),
            (
                "/Users/me/Applications/Deskline.app/Contents/MacOS/deskline",
                None,
            ),
            ("/usr/local/bin/deskline", None),
        ] {
            assert_eq!(passing(Path::new(path)), whose, "{path}");
        }
    }
}

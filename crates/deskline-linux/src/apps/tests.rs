use std::fs;
use std::os::unix::fs::PermissionsExt;

use deskline_contract::Identity;
use tempfile::TempDir;

use super::*;

/// A session with its own apps and commands.
struct Fixture {
    root: TempDir,
    session: Session,
}

impl Fixture {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name).to_str().unwrap().to_owned();
        let session = Session::from_environment(
            &[
                ("HOME", at("home")),
                ("PATH", at("bin")),
                ("XDG_DATA_DIRS", format!("{}:{}", at("local"), at("share"))),
                ("XDG_CONFIG_DIRS", at("etc")),
                ("LANG", "de_AT.UTF-8".to_owned()),
            ]
            .map(|(name, value)| (name.to_owned(), value))
            .into(),
        );
        Self { root, session }
    }

    fn file(&self, path: &str, text: &str) -> PathBuf {
        let path = self.root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn program(&self, name: &str) -> PathBuf {
        let path = self.file(&format!("bin/{name}"), "#!/bin/sh\n");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn app(&self, id: &str, keys: &str) {
        self.file(&format!("share/applications/{id}.desktop"), &entry(keys));
    }

    fn find(&self, identifier: &str) -> Launch {
        find(identifier, &self.session).unwrap()
    }

    fn id(&self, identifier: &str) -> String {
        self.find(identifier).entry.unwrap().id
    }

    fn error(&self, identifier: &str) -> String {
        find(identifier, &self.session).unwrap_err().to_string()
    }
}

fn entry(keys: &str) -> String {
    format!(
        "# comment\n[Desktop Entry]\nType=Application\n{keys}\n\n[Desktop Action x]\n\
        Name=Not this\nExec=no\n"
    )
}

#[test]
fn app_ids_are_matched_before_names_commands_and_parts_of_names() {
    let f = Fixture::new();
    f.program("calc");
    f.program("ls");
    f.app(
        "org.gnome.Calculator",
        "Name=Calculator\nName[de]=Taschenrechner\nName[fr]=Calculatrice\nExec=calc",
    );
    f.app(
        "org.kde.kate",
        "Name=Kate\nGenericName=Text Editor\nExec=kate -b %U",
    );
    f.app(
        "kde/writer",
        "Name=LibreOffice Writer\nGenericName=Word Processor\nExec=lo --writer %U",
    );
    f.app("calc2", "Name=LibreOffice Calc\nExec=lo --calc %U");
    for name in [
        "org.gnome.Calculator",
        "org.gnome.calculator.desktop",
        "Calculator",
        "taschenrechner",
        "CALCULATRICE",
        "calc",
        " Calculat ",
    ] {
        assert_eq!(f.id(name), "org.gnome.Calculator", "{name}");
    }
    assert_eq!(f.find("calc").name, "Taschenrechner");
    assert_eq!(f.id("text editor"), "org.kde.kate");
    assert_eq!(f.id("kde-writer"), "kde-writer");
    assert_eq!(f.id("Writer"), "kde-writer");
    assert_eq!(f.find("ls").argv, ["ls"]);
    assert_eq!(f.find("ls '/a b' -l").argv, ["ls", "/a b", "-l"]);
    assert_eq!(
        f.error("LibreOffice"),
        "2 apps start with 'LibreOffice': LibreOffice Calc (calc2), LibreOffice Writer \
         (kde-writer). Pass one app's id, which is in parentheses"
    );
    assert_eq!(
        f.error("Klate"),
        "no app or command 'Klate'. The nearest installed apps are 'Kate', 'Taschenrechner', \
        'LibreOffice Calc'"
    );
    assert!(f.error("ls 'open").contains("not closed"));
    assert!(f.error("  ").contains("identifier is empty"));
}

#[test]
fn an_earlier_directory_wins_and_a_hidden_entry_removes_the_app() {
    let f = Fixture::new();
    f.app("a", "Name=System A\nExec=a");
    f.app("b", "Name=System B\nExec=b");
    f.app("c", "Name=C\nExec=c\nTryExec=not-installed");
    f.app("d", "Name=D\nExec=d\nNoDisplay=true");
    f.app("d2", "Name=D\nExec=d2");
    f.app("e", "Name=E\nExec=e\nNoDisplay=true");
    f.file(
        "home/.local/share/applications/a.desktop",
        &entry("Name=My A\nExec=mine"),
    );
    f.file(
        "local/applications/b.desktop",
        &entry("Hidden=true\nName=B\nExec=b"),
    );
    assert_eq!(f.find("a").name, "My A");
    assert!(f.error("b").starts_with("no app or command"));
    assert!(f.error("c").starts_with("no app or command"));
    assert_eq!(f.id("D"), "d");
    assert_eq!(f.id("e"), "e");
}

#[test]
fn paths_programs_documents_and_addresses_find_their_app() {
    let f = Fixture::new();
    let tool = f.program("tool");
    f.app(
        "editor",
        "Name=Editor\nExec=ed --new %U\nMimeType=text/plain;",
    );
    f.app("py", "Name=Py\nExec=py\nMimeType=text/x-python;");
    f.app(
        "web",
        "Name=Web\nExec=web %u\nMimeType=x-scheme-handler/https;",
    );
    f.app("other", "Name=Other\nExec=other %f\nMimeType=text/plain;");
    f.file(
        "share/mime/globs2",
        "50:text/x-python:*.py\n50:application/x-thing:*.thing\n",
    );
    f.file("share/mime/subclasses", "text/x-python text/x-script\n");
    let text = f.file("docs/a b.txt", "words");
    let python = f.file("docs/x.py", "print()");
    let thing = f.file("docs/x.thing", "\0\0");
    assert_eq!(
        f.find(tool.to_str().unwrap()).argv,
        [tool.to_str().unwrap()]
    );
    let uri = format!("file://{}/docs/a%20b.txt", f.root.path().display());
    assert_eq!(f.find(text.to_str().unwrap()).argv, ["ed", "--new", &uri]);
    assert_eq!(f.find(&uri).argv, ["ed", "--new", &uri]);
    assert_eq!(
        f.find(python.to_str().unwrap()).argv,
        ["py", python.to_str().unwrap()]
    );
    assert_eq!(
        f.find("https://example.org/?q=1").argv,
        ["web", "https://example.org/?q=1"]
    );
    assert!(
        f.error(thing.to_str().unwrap())
            .contains("(type application/x-thing)")
    );
    assert!(f.error("gopher://x").contains("opens gopher URLs"));
    assert_eq!(
        f.find("tool --page https://x.org/").argv,
        ["tool", "--page", "https://x.org/"]
    );
    assert!(f.error("/no/such").contains("/no/such does not exist"));
    assert!(f.error("./x").contains("relative path"));
    let line = format!("\"{}\" -x", tool.display());
    assert_eq!(f.find(&line).argv, [tool.to_str().unwrap(), "-x"]);
    let line = format!("{} -x", tool.display());
    assert_eq!(f.find(&line).argv, [tool.to_str().unwrap(), "-x"]);
    let file = f.root.path().join("share/applications/web.desktop");
    assert_eq!(f.id(file.to_str().unwrap()), "web");
    f.file(
        "etc/mimeapps.list",
        "[Added Associations]\ntext/plain=py.desktop\n\
        [Default Applications]\ntext/plain=gone.desktop;other.desktop\n",
    );
    assert_eq!(
        f.find(text.to_str().unwrap()).argv,
        ["other", text.to_str().unwrap()]
    );
}

#[test]
fn exec_is_unquoted_and_field_codes_are_replaced() {
    let f = Fixture::new();
    f.app(
        "x",
        r#"Name=An App
Icon=pic
Exec=sh -c "echo \\"\\$1\\" \\\\ 100%%" --name=%c %i %k plain\sspace %F %m %z"#,
    );
    let path = f.root.path().join("share/applications/x.desktop");
    let argv = f.find("x").argv;
    let expected = [
        "sh",
        "-c",
        r#"echo "$1" \ 100%"#,
        "--name=An App",
        "--icon",
        "pic",
        path.to_str().unwrap(),
        "plain",
        "space",
    ];
    assert_eq!(argv, expected);
    assert_eq!(
        command::split(r#"a "" 'b'c\ d"#).unwrap(),
        ["a", "", "bc d"]
    );
    assert_eq!(command::split(r#"a "b"#), None);
    assert_eq!(command::split("a \\"), None);
}

#[test]
fn running_apps_are_recognized() {
    let f = Fixture::new();
    f.app(
        "org.gnome.Calculator",
        "Name=Calculator\nExec=gnome-calculator",
    );
    f.app("tool", "Name=Tool\nExec=env A=b python3 /usr/bin/tool");
    let is = |id: &str, program: &str, accessible_name: &str| {
        f.find(id).is_running_as(Running {
            program,
            accessible_name,
            ..Running::default()
        })
    };
    assert!(is("org.gnome.Calculator", "gnome-calculato", ""));
    assert!(is("org.gnome.Calculator", "", "gnome-calculator"));
    assert!(is("org.gnome.Calculator", "", "org.gnome.Calculator"));
    assert!(!is("org.gnome.Calculator", "", ""));
    assert!(!is("org.gnome.Calculator", "kcalc", "KCalc"));
    assert!(!is("tool", "python3", "other"));
    assert!(is("tool", "python3", "Tool"));

    f.app(
        "org.x.Vault",
        "Name=Vault\nExec=flatpak run org.x.Vault @@ %F @@",
    );
    let is_in = |flatpak: &str| {
        f.find("org.x.Vault").is_running_as(Running {
            program: "python3",
            accessible_name: "main.py",
            flatpak,
        })
    };
    assert!(is_in("org.x.Vault"));
    assert!(!is_in("org.x.Other"));
    assert!(!is_in(""));
}

#[test]
fn an_app_may_be_opened_with_a_document() {
    let f = Fixture::new();
    f.program("edit");
    f.app("org.example.Edit", "Name=Text Editor\nExec=edit %U");
    let notes = f.file("my notes/a.txt", "notes");
    let notes = notes.display();
    let argv = |identifier: String| f.find(&identifier).argv;
    let uri = format!("file://{}", notes.to_string().replace(' ', "%20"));
    assert_eq!(argv(format!("Text Editor {notes}")), ["edit", &uri]);
    assert_eq!(argv(format!("org.example.Edit {uri}")), ["edit", &uri]);
    assert_eq!(
        argv("Text Editor https://example.org/a b".into()),
        ["edit", "https://example.org/a b"]
    );
    // A command takes its words unchanged.
    assert_eq!(argv("edit --new /x".into()), ["edit", "--new", "/x"]);
    assert!(
        f.error("Text Editor /not there")
            .contains("/not there does not exist")
    );
    assert!(f.error("Nothing /x").contains("no app or command"));
}

/// Only root can write there.
const SLEEP: &str = "/usr/bin/sleep";

fn has(identity: &Identity, name: &str) -> bool {
    identity.names.iter().any(|known| known == name)
}

#[test]
fn a_command_is_known_by_path_and_by_name_if_only_root_can_write_it() {
    let f = Fixture::new();
    let own = f.program("vault").canonicalize().unwrap();
    f.app(
        "org.x.Vault",
        "Name=Secrets\nExec=vault --new %U\nTryExec=/usr/bin/sleep",
    );
    let notes = f.file("notes.txt", "");
    let link = f.root.path().join("bin/notes");
    std::os::unix::fs::symlink(SLEEP, &link).unwrap();
    let judged = |line: &str| f.find(line).judge(&f.session);

    let system = judged(SLEEP);
    assert!(
        has(&system, "sleep") && has(&system, SLEEP) && !system.is_command,
        "{system:?}"
    );
    assert_eq!(system.key.as_deref(), Some(SLEEP));
    let linked = judged(link.to_str().unwrap());
    assert!(
        has(&linked, "sleep") && !has(&linked, "notes"),
        "{linked:?}"
    );

    let own = own.to_str().unwrap();
    for line in ["vault".to_owned(), format!("vault {}", notes.display())] {
        let identity = judged(&line);
        assert_eq!(identity.names, [own], "{line}");
        assert!(!identity.is_command && identity.claims.contains(&"vault".to_owned()));
    }
    // A desktop file that others can write may have any name, and any command.
    let identity = judged("Secrets");
    assert_eq!(
        (&identity.names[..], identity.is_command),
        (&[own.to_owned()][..], true)
    );
    for claim in ["Secrets", "org.x.Vault"] {
        assert!(identity.claims.contains(&claim.to_owned()), "{identity:?}");
    }
    // It starts as it was judged.
    let mut launch = f.find("vault");
    launch.judge(&f.session);
    assert_eq!(launch.argv, [own]);
}

#[test]
fn a_command_with_more_than_a_document_is_judged_as_a_command() {
    let f = Fixture::new();
    for name in [
        "vault",
        "env",
        "flatpak",
        "xdg-open",
        "sh",
        "python3.11",
        "foot",
        "wine64",
    ] {
        f.program(name);
    }
    let notes = f.file("notes.txt", "");
    let linked = f.root.path().join("linked.txt");
    let described = f.file("described", "# x\n[Desktop Entry]\n");
    std::os::unix::fs::symlink(f.file("x.desktop", ""), &linked).unwrap();
    let is_command = |line: &str| f.find(line).judge(&f.session).is_command;
    let notes = notes.display();
    for line in [
        "vault".to_owned(),
        format!("vault {notes}"),
        format!("vault file://{notes}"),
        "vault https://example.org/".to_owned(),
    ] {
        assert!(!is_command(&line), "{line}");
    }
    for line in [
        "vault --new".to_owned(),
        "vault -".to_owned(),
        "vault no/file".to_owned(),
        "vault macro:///x".to_owned(),
        format!("vault {notes} {notes}"),
        format!("vault {SLEEP}"),
        format!("vault {}/bin/vault", f.root.path().display()),
        format!("env {notes}"),
        format!("sh {notes}"),
        format!("python3.11 {notes}"),
        format!("foot {notes}"),
        format!("wine64 {notes}"),
        format!("vault {}", linked.display()),
        format!("vault {}", described.display()),
        "sh".to_owned(),
        "flatpak run org.x.Vault".to_owned(),
        format!("xdg-open {notes}"),
    ] {
        assert!(is_command(&line), "{line}");
    }
    // Each word of the command can deny it.
    let claims = f.find("sh -c 'va\"\"ult --new'").judge(&f.session).claims;
    assert!(claims.contains(&"vault".to_owned()), "{claims:?}");
}

#[test]
fn a_process_is_known_by_its_program_and_its_other_names_are_claims() {
    let f = Fixture::new();
    let sleeps = f.root.path().join("bin/sleeps");
    std::fs::create_dir_all(sleeps.parent().unwrap()).unwrap();
    std::fs::copy(SLEEP, &sleeps).unwrap();
    f.app("org.x.Sleeps", "Name=Dormouse\nExec=sleeps %U");
    let script = f.file("some/run.sh", "read line\n");
    let known = |program: &Path, argument: &Path| {
        // The name does not count that the process gives itself.
        let mut command = std::process::Command::new(program);
        std::os::unix::process::CommandExt::arg0(&mut command, "calculator");
        command.arg(argument).stdin(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut identities = Identities::default();
        let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
        let is_it = |app: &Identity| {
            app.key
                .as_deref()
                .is_some_and(|key| !key.contains("deskline"))
        };
        let mut app = Identity::default();
        // A process gets its executable, and then its command line, a moment after it starts.
        while !(is_it(&app) && app.key.is_some()) && std::time::Instant::now() < end {
            app = identities.known_as(child.id(), &f.session);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        app
    };
    let text = |path: &Path| path.canonicalize().unwrap().display().to_string();
    let own = known(&sleeps, Path::new("60"));
    assert_eq!(own.names, [text(&sleeps)]);
    assert_eq!(own.key, Some(text(&sleeps)));
    for claim in ["sleeps", "org.x.Sleeps", "Dormouse"] {
        assert!(own.claims.contains(&claim.to_owned()), "{claim}: {own:?}");
    }
    let system = known(Path::new(SLEEP), Path::new("60"));
    assert!(has(&system, "sleep") && has(&system, SLEEP), "{system:?}");
    let scripted = known(Path::new("/bin/sh"), &script);
    assert!(
        has(&scripted, &text(&script)) && !has(&scripted, "run.sh"),
        "{scripted:?}"
    );
    assert_eq!(scripted.key, Some(text(&script)));
}

/// `sh -s` reads its script from standard input. So the next argument is not a script.
#[test]
fn an_argument_after_an_option_is_not_taken_for_a_script() {
    let f = Fixture::new();
    let mut command = std::process::Command::new("/bin/sh");
    command
        .args(["-s", SLEEP])
        .stdin(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
    let mut identities = Identities::default();
    let known = loop {
        let known = identities.known_as(child.id(), &f.session);
        if known.names.iter().any(|name| name.ends_with("sh")) || std::time::Instant::now() > end {
            break known;
        }
    };
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!has(&known, "sleep") && !has(&known, SLEEP), "{known:?}");
    assert_eq!(known.key, None);
}

#[test]
fn opening_a_fifo_as_a_document_does_not_block() {
    let f = Fixture::new();
    let path = f.file("docs/x", "").with_file_name("fifo");
    let kind = rustix::fs::FileType::Fifo;
    let mode = rustix::fs::Mode::RUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &path, kind, mode, 0).unwrap();
    let (sender, answer) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let path = path.to_str().unwrap();
        let read = deskline_unix::process::read_file(path);
        sender.send((read, f.error(path))).unwrap();
    });
    let limit = std::time::Duration::from_secs(20);
    let (read, error) = answer.recv_timeout(limit).unwrap();
    assert_eq!(read, None);
    assert!(error.contains("no installed app opens"), "{error}");
}

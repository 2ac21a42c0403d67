//! The attacks: a name, the server's bounds, and what is set up for the identifier to open.

use crate::trap::{Trap, folder};

type Attack = (&'static str, &'static str, fn(&Trap) -> String);

/// The agent may use a text editor.
const PAD: &str = "--allow-app mousepad";
/// It may use what the person has granted.
const ASK: &str = "--ask";
/// It may use all but a vault, so it may run nothing that starts others.
const DENY: &str = "--deny-app vault";

#[rustfmt::skip]
pub(crate) const ATTACKS: &[Attack] = &[
    // Files with an allowed name.
    ("a script of that name", PAD, |t| t.program("mousepad")),
    ("by a file: URL", PAD, |t| format!("file://{}", t.program("mousepad"))),
    ("by an escaped URL", PAD, |t| format!("file://{}/%6dousepad", folder(&t.program("mousepad")).display())),
    ("by ..", PAD, |t| format!("/usr/bin/../..{}", t.program("mousepad"))),
    ("a link of that name", PAD, |t| t.link("mousepad", &t.program("x"))),
    ("a hard link", PAD, |t| {
        let link = t.folder.join("mousepad");
        std::fs::hard_link(t.program("x"), &link).unwrap();
        link.display().to_string()
    }),
    ("a program's copy", PAD, |t| {
        let copy = t.folder.join("mousepad");
        std::fs::copy("/usr/bin/touch", &copy).unwrap();
        format!("{} {}", copy.display(), t.mark.display())
    }),
    ("a name that goes on", PAD, |t| t.program("mousepad-x")),
    ("a folder of that name", PAD, |t| t.program("mousepad/x")),
    ("in a folder like root's", "--allow-app /usr/bin/mousepad", |t| t.program("usr/bin/mousepad")),
    ("first in PATH", PAD, |t| { t.in_path("mousepad"); "mousepad".into() }),
    ("first in PATH, by the app's name", PAD, |t| { t.in_path("mousepad"); "Mousepad".into() }),
    ("first in PATH, granted", ASK, |t| { t.in_path("mousepad"); "org.xfce.mousepad".into() }),
    ("by ~", PAD, |t| { t.home_program("mousepad"); "~/mousepad".into() }),
    ("by $HOME", PAD, |t| { t.home_program("mousepad"); "$HOME/mousepad".into() }),
    ("by /proc", PAD, |t| format!("/proc/self/root{}", t.program("mousepad"))),
    ("from a folder of root's by ..", "--allow-app /usr/bin/", |t| {
        format!("/usr/bin/../..{}", t.program("x"))
    }),
    ("a letter that looks like it", PAD, |t| t.program("m\u{43e}usepad")),
    ("a space at its end", PAD, |t| format!("'{}'", t.program("mousepad "))),
    ("in capitals", PAD, |t| t.program("MOUSEPAD")),
    ("by the root of another namespace", PAD, |t| t.elsewhere(&t.program("x"), "/usr/bin/mousepad")),
    ("by the root of another namespace, granted", ASK, |t| t.elsewhere(&t.program("x"), "/usr/bin/mousepad")),
    ("by a URL of another machine", PAD, |t| format!("file://other{}", t.program("mousepad"))),
    ("by a URL in capitals", PAD, |t| format!("FILE://{}", t.program("mousepad"))),
    ("by a URL with one slash", PAD, |t| format!("file:{}", t.program("mousepad"))),
    ("by localhost twice", PAD, |t| format!("file://localhostlocalhost{}", t.program("mousepad"))),
    ("by two slashes", PAD, |t| format!("/{}", t.program("mousepad"))),
    ("by a slash at its end", PAD, |t| t.program("mousepad") + "/"),
    ("by a link to a link", PAD, |t| t.link("mousepad", &t.link("y", &t.program("x")))),
    ("by a link through /proc", PAD, |t| {
        t.link("mousepad", &format!("/proc/self/root{}", t.program("x")))
    }),
    ("from the server's folder", PAD, |t| { t.program("mousepad"); "./mousepad".into() }),
    ("below PATH", PAD, |t| { t.in_path("zz/mousepad"); "zz/mousepad".into() }),
    ("a program that a script of root's starts", "--allow-app chromium", |t| {
        for name in ["basename", "cat", "dirname", "grep", "id", "ls", "readlink", "sed", "uname"] {
            t.in_path(name);
        }
        "chromium".into()
    }),
    ("a link to another program, granted", ASK, |t| {
        format!("{} {}", t.link("mousepad", "/usr/bin/touch"), t.mark.display())
    }),
    ("out of a folder of root's by ..", "--allow-app /usr/share/", |t| {
        format!("/usr/share/../bin/gunzip {}", t.packed())
    }),
    ("a link in PATH to a program of root's", PAD, |t| {
        t.link_in_path("mousepad", "/usr/bin/gunzip");
        format!("mousepad {}", t.packed())
    }),
    ("its own program", DENY, |_| "/proc/self/exe".into()),
    ("an id with folders", "--allow-app org.xfce.mousepad", |t| {
        t.entry("zz20", &format!("Name=mousepad\nExec={}", t.touch()));
        "org.xfce.mousepad/../zz20".into()
    }),
    // Interpreters.
    ("sh and a text", PAD, |t| format!("sh {}", t.text("mousepad.csv"))),
    ("bash, a part of a name", "--allow-app calc", |t| format!("bash {}", t.text("calc.csv"))),
    ("sh -c", PAD, |t| format!("sh -c '{}' mousepad", t.touch())),
    ("python", PAD, |t| {
        let code = format!("open('{}', 'w')", t.mark.display());
        format!("python3 {}", t.file("mousepad.py", &code))
    }),
    ("python -c", PAD, |t| format!("python3 -c \"open('{}', 'w')\" mousepad", t.mark.display())),
    ("perl", PAD, |t| {
        let code = format!("open(F, '>', '{}');", t.mark.display());
        format!("perl {}", t.file("mousepad.pl", &code))
    }),
    ("awk", DENY, |t| {
        let code = format!("BEGIN {{ system(\"{}\") }}", t.touch());
        format!("awk -f {}", t.file("x.awk", &code))
    }),
    ("tclsh", DENY, |t| format!("tclsh {}", t.file("x.tcl", &format!("exec {}", t.touch())))),
    ("an interpreter that is denied nothing", DENY, |t| format!("sh {}", t.text("x"))),
    ("an interpreter that is asked about", ASK, |t| format!("sh {}", t.text("x"))),
    ("a restricted shell", DENY, |t| format!("rbash {}", t.text("x"))),
    ("an interpreter with its version", DENY, |t| {
        format!("perl5.36.0 {}", t.file("x", &format!("system('{}');", t.touch())))
    }),
    ("an interpreter with its machine", DENY, |t| {
        format!("perl5.36-x86_64-linux-gnu {}", t.file("x", &format!("system('{}');", t.touch())))
    }),
    ("an interpreter that a link names so", PAD, |t| {
        format!("{} {}", t.link("mousepad", "/bin/sh"), t.text("x"))
    }),
    ("an interpreter and a page of the web", DENY, |_| "python3 https://nowhere.invalid/x.py".into()),
    ("busybox", DENY, |t| format!("busybox sh {}", t.text("x"))),
    ("sed's e", DENY, |t| format!("sed '1e {}' /etc/hostname", t.touch())),
    ("ed", DENY, |t| format!("ed -s {}", t.file("x", &format!("!{}\n", t.touch())))),
    ("jshell", DENY, |t| {
        let code = format!("new java.io.File(\"{}\").createNewFile();\n/exit\n", t.mark.display());
        format!("jshell {}", t.file("x.jsh", &code))
    }),
    ("run-parts", DENY, |t| format!("run-parts {}", folder(&t.program("parts/x")).display())),
    ("vim -S", DENY, |t| format!("vim -S {}", t.file("x.vim", &format!("!{}", t.touch())))),
    ("make and a file of the home", DENY, |t| {
        t.at_home("Makefile", &format!("all:\n\t{}\n", t.touch()));
        "make".into()
    }),
    ("wine and a program of its own kind", DENY, |t| {
        t.in_path("wine");
        format!("wine {}", t.file("x.exe", "MZ"))
    }),
    // Environments.
    ("env PATH", PAD, |t| format!("env PATH={} mousepad", folder(&t.program("mousepad")).display())),
    ("env LD_PRELOAD", PAD, |t| format!("env LD_PRELOAD={} mousepad", t.library())),
    ("env GTK_MODULES", PAD, |t| format!("env GTK_MODULES={} mousepad", t.library())),
    ("env PYTHONPATH", "--allow-app dex", |t| {
        let code = format!("open('{}', 'w')", t.mark.display());
        let module = t.file("sitecustomize.py", &code);
        format!("env PYTHONPATH={} dex", folder(&module).display())
    }),
    ("env -S", PAD, |t| format!("env -S '{}' mousepad", t.touch())),
    ("an assignment", PAD, |t| format!("PATH={} mousepad", folder(&t.program("mousepad")).display())),
    ("an assignment that desktops make", PAD, |t| {
        format!("DESKTOP_STARTUP_ID=x {} mousepad", t.touch())
    }),
    // Programs that run another.
    ("env", PAD, |t| format!("env {}", t.program("mousepad"))),
    ("nice", PAD, |t| format!("nice {}", t.program("mousepad"))),
    ("nohup", PAD, |t| format!("nohup {}", t.program("mousepad"))),
    ("setsid", PAD, |t| format!("setsid {}", t.program("mousepad"))),
    ("stdbuf", PAD, |t| format!("stdbuf -o0 {}", t.program("mousepad"))),
    ("timeout", PAD, |t| format!("timeout 9 {}", t.program("mousepad"))),
    ("xargs", DENY, |t| format!("xargs -a /dev/null {}", t.program("mousepad"))),
    ("dbus-run-session", PAD, |t| format!("dbus-run-session {}", t.program("mousepad"))),
    ("systemd-run", DENY, |t| format!("systemd-run --scope {}", t.program("mousepad"))),
    ("pkexec", DENY, |t| format!("pkexec {}", t.program("mousepad"))),
    ("strace", DENY, |t| format!("strace {}", t.program("mousepad"))),
    ("unshare", DENY, |t| format!("unshare {}", t.program("mousepad"))),
    ("chroot", DENY, |t| format!("chroot / {}", t.program("mousepad"))),
    ("script", DENY, |t| format!("script -c {} /dev/null", t.program("mousepad"))),
    ("a wrapper that no list has", DENY, |t| {
        format!("/lib64/ld-linux-x86-64.so.2 {} {}", "/usr/bin/touch", t.mark.display())
    }),
    ("the loader and a library", DENY, |t| format!("/lib64/ld-linux-x86-64.so.2 {}", t.library())),
    ("a denied program's link", DENY, |t| t.link("notes", &t.program("vault"))),
    ("a denied program, quoted apart", DENY, |t| {
        format!("sh -c '{}/va\"\"ult'", folder(&t.program("vault")).display())
    }),
    ("flatpak run --command", PAD, |t| {
        t.in_path("flatpak");
        "flatpak run --command=sh mousepad -c id".into()
    }),
    ("flatpak run", PAD, |t| { t.in_path("flatpak"); "flatpak run mousepad".into() }),
    ("snap run", PAD, |t| { t.in_path("snap"); "snap run --shell mousepad".into() }),
    ("xdg-open and a type's handler", DENY, |t| handled(t, "xdg-open", "zz13")),
    ("gio open and a type's handler", DENY, |t| handled(t, "gio open", "zz14")),
    ("exo-open and a type's handler", DENY, |t| handled(t, "exo-open", "zz15")),
    ("run-mailcap and a type's handler", DENY, |t| {
        t.in_path("run-mailcap");
        format!("run-mailcap {}", t.file("x.txt", "text"))
    }),
    ("kde-open6 and a type's handler", DENY, |t| {
        t.in_path("kde-open6");
        format!("kde-open6 {}", t.file("x.txt", "text"))
    }),
    ("flock", DENY, |t| format!("flock /tmp {}", t.program("x"))),
    ("xvfb-run", DENY, |t| format!("xvfb-run {}", t.program("x"))),
    ("start-stop-daemon", DENY, |t| format!("start-stop-daemon --start --exec {}", t.program("x"))),
    ("valgrind", DENY, |t| format!("valgrind {}", t.program("x"))),
    ("git and an alias", DENY, |t| format!("git -c 'alias.x=!{}' x", t.touch())),
    ("a call on the bus", DENY, |t| {
        let service = format!("[D-BUS Service]\nName=org.zz.Bus\nExec={}\n", t.program("x"));
        t.at_home(".local/share/dbus-1/services/org.zz.Bus.service", &service);
        "gdbus call --session --dest org.zz.Bus --object-path / --method org.zz.Bus.Go".into()
    }),
    // Options of allowed apps.
    ("chromium --renderer-cmd-prefix", "--allow-app chromium", |t| {
        format!("chromium --no-sandbox --user-data-dir={} --renderer-cmd-prefix='{}'",
            t.folder.display(), t.program("x"))
    }),
    ("chromium --utility-cmd-prefix, granted", ASK, |t| {
        format!("chromium --no-sandbox --user-data-dir={} --utility-cmd-prefix='{}'",
            t.folder.display(), t.program("x"))
    }),
    ("soffice --convert-to", "--allow-app soffice", |t| {
        let document = t.file("x.txt", "x");
        let out = format!("--convert-to txt:Text --outdir {}", t.folder.display());
        std::os::unix::fs::symlink(&t.mark, t.folder.join("y.txt")).unwrap();
        format!("soffice --headless {out} {document}")
    }),
    ("soffice and a macro", "--allow-app soffice", |_| "soffice macro:///Standard.Module1.Main".into()),
    ("a name and a macro", "--allow-app libreoffice-calc", |_| {
        "LibreOffice Calc macro:///Standard.Module1.Main".into()
    }),
    ("a terminal and a program as a page", "--allow-app xterm", |t| format!("xterm {}", t.program("x.html"))),
    ("a terminal of another name", "--allow-app koi8rxterm", |t| format!("koi8rxterm {}", t.executable("x"))),
    ("a terminal by a type of the home", "--allow-app debian-xterm", |t| {
        t.at_home(".config/mimeapps.list", "[Default Applications]\ntext/plain=debian-xterm.desktop\n");
        t.executable("x.txt")
    }),
    ("a scheme that the home gives an app", "--allow-app chromium", |t| {
        let line = "x-scheme-handler/javascript=chromium.desktop";
        t.at_home(".config/mimeapps.list", &format!("[Default Applications]\n{line}\n"));
        "javascript://%0aalert(1)".into()
    }),
    ("a script as a page", "--allow-app chromium", |_| "chromium JavaScript://%0aalert(1)".into()),
    ("data as a page", "--allow-app chromium", |_| "chromium data://text/html,x".into()),
    ("a page of the settings", "--allow-app chromium", |_| "chromium chrome://settings".into()),
    ("the source of a file", "--allow-app chromium", |_| "chromium view-source:file:///etc/passwd".into()),
    ("a terminal and a program without its first line", "--allow-app xterm", |t| {
        format!("xterm {}", t.executable("x.html"))
    }),
    ("soffice and a script's scheme", "--allow-app soffice", |_| {
        "soffice vnd.sun.star.script:Standard.Module1.Main?language=Basic&location=application".into()
    }),
    ("xterm -e", "--allow-app xterm", |t| format!("xterm -e {}", t.touch())),
    ("vim -c", "--allow-app vim", |t| format!("vim -es -c '!{}' -c q", t.touch())),
    ("find -exec", "--allow-app find", |t| format!("find /usr/bin/mousepad -exec {} ;", t.touch())),
    ("tar --checkpoint-action", "--allow-app tar", |t| {
        let exec = format!("--checkpoint-action='exec={}'", t.touch());
        format!("tar -cf /dev/null --checkpoint=1 {exec} /usr/bin/mousepad")
    }),
    ("gdb -ex", "--allow-app gdb", |t| format!("gdb -batch -ex 'shell {}'", t.touch())),
    // Desktop files.
    ("a forged one", PAD, |t| {
        let lines = format!("[Desktop Entry]\nType=Application\nName=mousepad\nExec={}\n", t.touch());
        t.file("mousepad.desktop", &lines)
    }),
    ("one of the home", PAD, |t| {
        t.entry("zz1", &format!("Name=mousepad\nExec={}", t.touch()));
        "zz1".into()
    }),
    ("one with its id", "--allow-app org.xfce.mousepad", |t| {
        t.entry("org.xfce.mousepad", &format!("Name=Mousepad\nExec={}", t.touch()));
        "org.xfce.mousepad".into()
    }),
    ("one with its program's options", PAD, |t| {
        let exec = format!("Name=Two\nExec=mousepad --x {}", t.mark.display());
        t.entry("zz2", &exec);
        "Two".into()
    }),
    ("one with a program of its name", PAD, |t| {
        t.entry("zz3", &format!("Name=Three\nExec={}", t.program("mousepad")));
        "Three".into()
    }),
    ("one with a granted path as its name", ASK, |t| {
        t.entry("zz4", &format!("Name=/usr/bin/mousepad\nExec={}", t.touch()));
        "zz4".into()
    }),
    ("one with a granted id", ASK, |t| {
        t.entry("org.gnome.TextEditor", &format!("Name=Text Editor\nExec={}", t.touch()));
        "org.gnome.TextEditor".into()
    }),
    ("one in a terminal", PAD, |t| {
        t.entry("zz5", &format!("Name=mousepad\nTerminal=true\nExec={}", t.touch()));
        "zz5".into()
    }),
    ("a link to root's, with an allowed id", "--allow-app org.xfce.mousepad", |t| {
        t.at_home(".bashrc", &t.touch());
        let at = t.entry("org.xfce.mousepad", "");
        std::fs::remove_file(&at).unwrap();
        std::os::unix::fs::symlink("/usr/share/applications/debian-xterm.desktop", at).unwrap();
        "org.xfce.mousepad".into()
    }),
    ("a service of the bus", PAD, |t| {
        let service = format!("[D-BUS Service]\nName=org.zz.Six\nExec={}\n", t.program("x"));
        t.at_home(".local/share/dbus-1/services/org.zz.Six.service", &service);
        t.entry("org.zz.Six", "Name=mousepad\nDBusActivatable=true");
        "org.zz.Six".into()
    }),
    ("a URL's handler", PAD, |t| {
        t.entry("zz7", &format!("Name=mousepad\nMimeType=x-scheme-handler/zz7;\nExec={}", t.touch()));
        "zz7://x".into()
    }),
    ("a type's handler", PAD, |t| {
        t.entry("zz8", &format!("Name=mousepad\nMimeType=text/plain;\nExec={} %U", t.touch()));
        t.at_home(".config/mimeapps.list", "[Default Applications]\ntext/plain=zz8.desktop\n");
        t.file("x.txt", "text")
    }),
    ("a web page's handler", PAD, |t| {
        let keys = format!("Name=mousepad\nMimeType=x-scheme-handler/https;\nExec={} %u", t.touch());
        t.entry("zz16", &keys);
        t.at_home(".config/mimeapps.list", "[Default Applications]\nx-scheme-handler/https=zz16.desktop\n");
        "https://nowhere.invalid".into()
    }),
    ("one that tries an allowed program", PAD, |t| {
        t.entry("zz17", &format!("Name=Seventeen\nTryExec=mousepad\nExec={}", t.touch()));
        "zz17".into()
    }),
    ("one whose command names an allowed program", PAD, |t| {
        t.entry("zz18", &format!("Name=mousepad\nExec=sh -c \"{}\" mousepad %k", t.touch()));
        "zz18".into()
    }),
    ("one in a folder of the menu, with an allowed id", "--allow-app org-xfce-mousepad", |t| {
        t.entry("org/xfce/mousepad", &format!("Name=mousepad\nExec={}", t.touch()));
        "org-xfce-mousepad".into()
    }),
    ("an id by a path", "--allow-app org.xfce.mousepad", |t| {
        let lines = format!("[Desktop Entry]\nType=Application\nName=Mousepad\nExec={}\n", t.touch());
        let at = t.file("org.xfce.mousepad.desktop", &lines);
        at.trim_end_matches(".desktop").into()
    }),
    ("gtk-launch", PAD, |t| {
        t.entry("zz9", &format!("Name=mousepad\nExec={}", t.touch()));
        "gtk-launch zz9".into()
    }),
    ("gio launch", PAD, |t| {
        let at = t.entry("zz10", &format!("Name=mousepad\nExec={}", t.touch()));
        format!("gio launch {at}")
    }),
    ("dex", "--allow-app dex", |t| {
        let at = t.entry("zz11", &format!("Name=Eleven\nExec={}", t.touch()));
        format!("dex {at}")
    }),
    ("a file manager and a desktop file", "--allow-app exo-open", |t| {
        let at = t.entry("zz12", &format!("Name=Twelve\nExec={}", t.touch()));
        format!("exo-open {at}")
    }),
    ("one in a data folder of the session", "--allow-app org.xfce.mousepad", |t| {
        t.in_data("org.xfce.mousepad", &format!("Name=Mousepad\nExec={}", t.touch()));
        "org.xfce.mousepad".into()
    }),
    ("one by the root of another namespace", "--allow-app org.xfce.mousepad", |t| {
        let lines = format!("[Desktop Entry]\nType=Application\nName=x\nExec={}\n", t.touch());
        let place = "/usr/share/applications/org.xfce.mousepad.desktop";
        t.elsewhere(&t.file("x", &lines), place)
    }),
    ("a folder's handler", PAD, |t| {
        t.entry("zz22", &format!("Name=mousepad\nMimeType=inode/directory;\nExec={} %U", t.touch()));
        t.at_home(".config/mimeapps.list", "[Default Applications]\ninode/directory=zz22.desktop\n");
        folder(&t.file("x.txt", "text")).display().to_string()
    }),
    ("the handler of a type of the home", PAD, |t| {
        t.at_home(".local/share/mime/globs2", "99:application/zz:*.zz\n");
        t.entry("zz23", &format!("Name=mousepad\nMimeType=application/zz;\nExec={} %U", t.touch()));
        t.file("x.zz", "text")
    }),
    ("one whose ending has capitals", PAD, |t| {
        let lines = format!("[Desktop Entry]\nType=Application\nName=mousepad\nExec={}\n", t.touch());
        t.file("mousepad.DESKTOP", &lines)
    }),
    ("one with the words of root's", "--allow-app org.xfce.mousepad-settings", |t| {
        t.in_path("mousepad");
        t.entry("zz24", "Name=mousepad\nExec=mousepad --preferences");
        "mousepad --preferences".into()
    }),
    ("one that is run by env", PAD, |t| {
        t.entry("zz25", &format!("Name=mousepad\nExec=env X=1 mousepad {}", t.mark.display()));
        t.in_path("mousepad");
        "zz25".into()
    }),
    ("one that is hidden by root's id in other letters", "--allow-app org.xfce.mousepad", |t| {
        t.entry("ORG.XFCE.MOUSEPAD", &format!("Name=Zz26\nExec={}", t.touch()));
        "Zz26".into()
    }),
    ("a link to one, as a document", "--allow-app thunar", |t| {
        let at = t.entry("zz21", &format!("Name=x\nExec={}", t.touch()));
        format!("thunar {}", t.link("notes.txt", &at))
    }),
    ("one whose ending has capitals, as a document", "--allow-app thunar", |t| {
        let lines = format!("[Desktop Entry]\nType=Application\nName=x\nExec={}\n", t.touch());
        format!("thunar {}", t.file("x.DeskTop", &lines))
    }),
    ("one without an ending, as a document", "--allow-app thunar", |t| {
        let lines = format!("# x\n[Desktop Entry]\nType=Application\nName=x\nExec={}\n", t.touch());
        format!("thunar {}", t.file("x", &lines))
    }),
    ("a terminal's program first in PATH", "--allow-app vim", |t| {
        t.in_path("x-terminal-emulator");
        "vim".into()
    }),
    // Words.
    ("a NUL in a URL", PAD, |t| format!("file:///usr/bin/mousepad%00{}", t.program("x"))),
    ("a newline", PAD, |t| format!("sh\n{}", t.text("mousepad"))),
    ("a newline after the app", PAD, |t| format!("mousepad\n--x\n{}", t.touch())),
    ("a tab", PAD, |t| format!("sh\t{}", t.text("mousepad"))),
    ("a semicolon", PAD, |t| format!("mousepad; {}", t.touch())),
    ("an ampersand", PAD, |t| format!("mousepad & {}", t.touch())),
    ("a substitution", PAD, |t| format!("mousepad $({})", t.touch())),
    ("quotes", PAD, |t| format!("'sh' \"-c\" '{}' mousepad", t.touch())),
    ("an escape", PAD, |t| format!("s\\h {}", t.text("mousepad"))),
    ("two documents", PAD, |t| format!("mousepad {} {}", t.text("x"), t.text("y"))),
    ("an option as a document", PAD, |t| format!("mousepad --display={}", t.text("x"))),
    ("a field code", PAD, |t| format!("mousepad %F {}", t.touch())),
    ("the end of the options", PAD, |t| format!("mousepad -- {}", t.program("x"))),
    ("a program as a document, granted", ASK, |t| format!("/usr/bin/mousepad {}", t.program("x"))),
    ("a program as a document", PAD, |t| format!("mousepad {}", t.program("x"))),
    ("a program as a document, by its URL", PAD, |t| format!("mousepad file://{}", t.program("x"))),
    ("a program as a document, escaped", PAD,
        |t| format!("mousepad file://{}/%78", folder(&t.program("x")).display())),
    ("a program as a document, by ~", PAD, |t| { t.home_program("x"); "mousepad ~/x".into() }),
    ("a program as a document, by ..", PAD, |t| format!("mousepad /usr/bin/../..{}", t.program("x"))),
    ("a program as a document, by a link", PAD, |t| format!("mousepad {}", t.link("x.txt", &t.program("x")))),
    ("a name and a program", PAD, |t| format!("Mousepad {}", t.program("x"))),
    ("an id and a program", "--allow-app org.xfce.mousepad",
        |t| format!("org.xfce.mousepad {}", t.program("x"))),
    ("a name and two documents", PAD, |t| format!("Mousepad {} {}", t.text("x"), t.text("y"))),
    ("a name and an option", PAD, |t| format!("Mousepad --x {}", t.text("x"))),
    ("a place in a document", PAD, |t| format!("mousepad +1 {}", t.text("x"))),
    ("an empty word", PAD, |t| format!("mousepad '' {}", t.text("x"))),
    ("standard input as a document", PAD, |_| "mousepad -".into()),
];

/// A file for this opener, and a program of the home that opens files of its type.
fn handled(t: &Trap, opener: &str, id: &str) -> String {
    t.entry(
        id,
        &format!("Name=mousepad\nMimeType=text/plain;\nExec={} %U", t.touch()),
    );
    t.at_home(
        ".config/mimeapps.list",
        &format!("[Default Applications]\ntext/plain={id}.desktop\n"),
    );
    format!("{opener} {}", t.file("x.txt", "text"))
}

//! The first ten minutes: what a client gives a server, and what apps get from it.

use std::os::windows::io::AsRawHandle as _;

use super::*;

/// What MCP's SDK for Python passes on to a server, and nothing else.
const PASSED_ON: [&str; 12] = [
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "USERNAME",
    "USERPROFILE",
];

fn passed_on() -> impl Iterator<Item = (&'static str, std::ffi::OsString)> {
    PASSED_ON
        .into_iter()
        .filter_map(|name| Some((name, std::env::var_os(name)?)))
}

fn run(program: &str, arguments: &[&str]) -> String {
    let done = Command::new(program).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{program} {arguments:?}: {said}");
    said
}

fn open(client: &mut Client, identifier: &str) -> String {
    client.call(
        "open_application_and_traverse",
        &json!({"identifier": identifier}),
    )
}

fn field(answer: &str, name: &str) -> String {
    let mut lines = answer.lines();
    let found = lines.find_map(|line| Some(line.trim().strip_prefix(name)?.trim().to_owned()));
    found.unwrap_or_else(|| panic!("no {name} in {answer}"))
}

fn is_running(pid: &str) -> bool {
    run("tasklist.exe", &[])
        .lines()
        .any(|line| line.split_whitespace().nth(1) == Some(pid))
}

fn end(pid: &str) {
    run("taskkill.exe", &["/f", "/pid", pid]);
}

/// A copy of this test program with this name plays an app that writes down its environment.
const TELLS: &str = "tells";

/// The copy's arguments. Without them it would run all tests beside the others.
const ONLY_TELLS: &str = "--exact first::a_program_that_tells";

#[test]
fn a_program_that_tells() {
    let own = std::env::current_exe().unwrap();
    if own.file_stem().is_some_and(|name| name == TELLS) {
        let told = std::env::vars_os().map(|(name, _)| name.to_string_lossy().to_lowercase());
        let told = told.collect::<Vec<_>>().join("\n") + "\n.\n";
        fs::write(own.with_extension("txt"), told).unwrap();
        std::process::exit(0);
    }
}

/// Apps are found by the names that the person knows, and get the environment that they know.
#[test]
fn apps_open_although_the_client_passes_on_only_twelve_variables() {
    if std::env::var_os("DESKLINE_BIN").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let menu = PathBuf::from(std::env::var_os("PROGRAMDATA").unwrap());
    let menu = menu.join(r"Microsoft\Windows\Start Menu\Programs\Deskline Test");
    fs::create_dir_all(&menu).unwrap();
    let tells = folder.path().join(TELLS).with_extension("exe");
    fs::copy(std::env::current_exe().unwrap(), &tells).unwrap();
    let script = folder.path().join("link.vbs");
    let notepad = r"C:\windows\system32\notepad.exe";
    let link = |name, target: &str, arguments| {
        let link = menu.join(name);
        let link = link.display();
        format!(
            "Set link = CreateObject(\"WScript.Shell\").CreateShortcut(\"{link}\")\r\n\
             link.TargetPath = \"{target}\"\r\nlink.Arguments = \"{arguments}\"\r\nlink.Save\r\n"
        )
    };
    let letters = link("Company Letters.lnk", notepad, "");
    let facts = link("Company Facts.lnk", tells.to_str().unwrap(), ONLY_TELLS);
    fs::write(&script, letters + &facts).unwrap();
    run("cscript.exe", &["//nologo", script.to_str().unwrap()]);
    let key = r"HKCU\Software\Microsoft\Windows\CurrentVersion\App Paths\scribe.exe";
    run("reg.exe", &["add", key, "/ve", "/d", notepad, "/f"]);

    let mut command = Client::command(&[]);
    command.env_clear().envs(passed_on());
    let mut client = Client::spawn(command);
    for name in ["Company Letters", "scribe"] {
        let opened = open(&mut client, name);
        assert!(
            field(&opened, "app:").eq_ignore_ascii_case("notepad"),
            "{name}: {opened}"
        );
        end(&field(&opened, "pid:"));
    }
    let _ = client.begin(
        "open_application_and_traverse",
        &json!({"identifier": "Company Facts"}),
    );
    let told = until("the app has told nothing", || {
        let told = fs::read_to_string(tells.with_extension("txt")).ok()?;
        told.ends_with(".\n").then_some(told)
    });
    // WPF ends at once without `windir`.
    for name in ["windir", "programdata", "programfiles(x86)", "comspec"] {
        assert!(told.lines().any(|known| known == name), "no {name}: {told}");
    }
    fs::remove_dir_all(&menu).unwrap();
    run("reg.exe", &["delete", key, "/f"]);
}

/// Windows Installer's form of a GUID that consists of this digit: four numbers of 32 bits in five
/// digits to the base 85 each, the lowest first.
fn installers(digit: u32) -> String {
    const DIGITS: &[u8] =
        b"!$%&'()*+,-.0123456789=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{}~";
    let digits = (0..5).map(|nth| DIGITS[(digit * 0x1111_1111 / 85_u32.pow(nth) % 85) as usize]);
    String::from_utf8(digits.collect()).unwrap().repeat(4)
}

/// A shortcut as Windows Installer makes them: it names a product and a component, and no path.
fn advertised(product: u32, component: u32) -> Vec<u8> {
    const CLASS: [u8; 16] = *b"\x01\x14\x02\0\0\0\0\0\xc0\0\0\0\0\0\0\x46";
    const HAS_DARWIN_ID_AND_UNICODE: u32 = 0x1080;
    let mut link = Vec::from(76_u32.to_le_bytes());
    link.extend(CLASS);
    link.extend(HAS_DARWIN_ID_AND_UNICODE.to_le_bytes());
    link.resize(76, 0);
    link[60] = 1; // SW_SHOWNORMAL
    let id = format!("{}Main>{}", installers(product), installers(component));
    let mut block = Vec::from(0x314_u32.to_le_bytes());
    block.extend(0xa000_0006_u32.to_le_bytes());
    block.extend(id.as_bytes());
    block.resize(8 + 260, 0);
    block.extend(id.encode_utf16().flat_map(u16::to_le_bytes));
    block.resize(0x314 + 4, 0); // the last four end the list of blocks
    link.extend(block);
    link
}

#[test]
fn a_shortcut_of_windows_installer_opens_its_program() {
    let Some(mut client) = Client::of_test() else {
        return;
    };
    let menu = PathBuf::from(std::env::var_os("PROGRAMDATA").unwrap());
    let menu = menu.join(r"Microsoft\Windows\Start Menu\Programs\Deskline Installer");
    fs::create_dir_all(&menu).unwrap();
    fs::write(menu.join("Company Ledger.lnk"), advertised(1, 2)).unwrap();
    let [product, component] = [1, 2].map(|digit: u32| digit.to_string().repeat(32));
    let installer = r"HKLM\Software\Microsoft\Windows\CurrentVersion\Installer\UserData\S-1-5-18";
    let of_product = format!(r"{installer}\Products\{product}\InstallProperties");
    let is_installed = ["/v", "WindowsInstaller", "/t", "REG_DWORD", "/d", "1", "/f"];
    run(
        "reg.exe",
        &[&["add", &*of_product], &is_installed[..]].concat(),
    );
    let of_component = format!(r"{installer}\Components\{component}");
    let notepad = r"C:\windows\system32\notepad.exe";
    let is_there = ["/v", &product, "/d", notepad, "/f"];
    run(
        "reg.exe",
        &[&["add", &*of_component], &is_there[..]].concat(),
    );
    let opened = open(&mut client, "Company Ledger");
    assert!(
        field(&opened, "app:").eq_ignore_ascii_case("notepad"),
        "{opened}"
    );
    end(&field(&opened, "pid:"));
    fs::remove_dir_all(&menu).unwrap();
    for key in [of_product, of_component] {
        run("reg.exe", &["delete", &key, "/f"]);
    }
}

#[link(name = "kernel32")]
unsafe extern "system" {
    fn CreateJobObjectW(security: *const u8, name: *const u16) -> isize;
    fn SetInformationJobObject(job: isize, kind: i32, limits: *const u64, size: u32) -> i32;
    fn AssignProcessToJobObject(job: isize, process: *mut std::ffi::c_void) -> i32;
    fn CloseHandle(handle: isize) -> i32;
}

/// `JOBOBJECT_EXTENDED_LIMIT_INFORMATION`: its number and size, and its flag
/// `JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE`, in the third of its eight-byte parts.
const LIMITS: (i32, usize) = (9, 144 / 8);
const KILL_ON_CLOSE: u64 = 0x2000;

/// MCP's SDK for Python puts a server into such a job, which its apps cannot leave.
#[test]
fn an_opened_app_outlives_the_end_of_its_servers_job() {
    let Some(mut client) = Client::of_test() else {
        return;
    };
    let mut limits = [0_u64; LIMITS.1];
    limits[2] = KILL_ON_CLOSE;
    // SAFETY: the limits outlive the call, which is given their size.
    let job = unsafe {
        let job = CreateJobObjectW(std::ptr::null(), std::ptr::null());
        let size = size_of_val(&limits) as u32;
        assert_ne!(
            SetInformationJobObject(job, LIMITS.0, limits.as_ptr(), size),
            0
        );
        assert_ne!(
            AssignProcessToJobObject(job, client.server.0.as_raw_handle()),
            0
        );
        job
    };
    let notepad = r"C:\windows\system32\notepad.exe";
    let pid = field(&open(&mut client, notepad), "pid:");
    // SAFETY: the handle is closed once.
    assert_ne!(unsafe { CloseHandle(job) }, 0);
    until("the server runs on", || client.server.0.try_wait().unwrap());
    // Its processes end together.
    assert!(is_running(&pid), "the app has ended with its server");
    end(&pid);
}

/// A console program gets a console, in a window.
#[test]
fn a_console_program_is_opened() {
    let Some(mut client) = Client::of_test() else {
        return;
    };
    let opened = open(&mut client, r"C:\windows\system32\cmd.exe");
    let pid = field(&opened, "pid:");
    assert!(is_running(&pid), "{opened}");
    end(&pid);
}

/// A link of a kind that an app has announced, without slashes.
#[test]
fn a_link_without_slashes_is_opened_by_its_app() {
    let Some(mut client) = Client::of_test() else {
        return;
    };
    let key = r"HKLM\Software\Classes\deskline-letter";
    run("reg.exe", &["add", key, "/v", "URL Protocol", "/f"]);
    let command = format!(r"{key}\shell\open\command");
    let program = r#""C:\windows\system32\notepad.exe" "%1""#;
    run("reg.exe", &["add", &command, "/ve", "/d", program, "/f"]);
    let opened = open(&mut client, "deskline-letter:to-you");
    assert!(
        field(&opened, "app:").eq_ignore_ascii_case("notepad"),
        "{opened}"
    );
    end(&field(&opened, "pid:"));
    run("reg.exe", &["delete", key, "/f"]);
}

/// A client from the Store gives its servers an `AppData` of its own: the journal is elsewhere.
#[test]
fn the_journal_has_the_same_place_under_any_appdata() {
    let Some(program) = std::env::var_os("DESKLINE_BIN") else {
        return;
    };
    let home = tempfile::tempdir().unwrap();
    let run = |local: &str, arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).env_remove("DESKLINE_DIR");
        command.env("USERPROFILE", home.path());
        command.env("LOCALAPPDATA", home.path().join(local));
        let done = command.output().unwrap();
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    // There is no such process.
    run("Packages", &["call", "refresh_traversal", r#"{"pid": 2}"#]);
    let log = run("Local", &["log"]);
    assert!(log.contains("refresh_traversal"), "{log}");
}

/// A page for a bug report has the apps' figures, and none of their titles.
#[test]
fn facts_list_the_apps_without_titles_and_names() {
    let Some(program) = std::env::var_os("DESKLINE_BIN") else {
        return;
    };
    let key = r"HKLM\SYSTEM\CurrentControlSet\Control\CI\Policy";
    let value = "VerifiedAndReputablePolicyState";
    run(
        "reg.exe",
        &["add", key, "/v", value, "/t", "REG_DWORD", "/d", "1", "/f"],
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("Salaries.txt");
    fs::write(&file, "").unwrap();
    let _editor = App(Command::new("notepad.exe").arg(&file).spawn().unwrap());
    let read = |command: &str| {
        let done = Command::new(&program).arg(command).output().unwrap();
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    let facts = until("the editor is not open", || {
        let facts = read("facts");
        facts.contains(" elements (").then_some(facts)
    });
    eprintln!("{facts}");
    for wanted in [
        "Windows build ",
        "Smart App Control Some(1)",
        "started by ",
        "monitors [",
        "screenshot ",
    ] {
        assert!(facts.contains(wanted), "no {wanted}: {facts}");
    }
    for hidden in ["Salaries", "otepad"] {
        assert!(!facts.contains(hidden), "{hidden}: {facts}");
    }
    assert!(facts.lines().count() <= 60, "{facts}");
    assert!(read("doctor").contains("Smart App Control is on"));
    run("reg.exe", &["delete", key, "/v", value, "/f"]);
}

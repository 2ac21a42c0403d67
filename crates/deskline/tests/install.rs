//! `deskline install` and `uninstall` on configuration files as users write them.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const DESKLINE: &str = env!("CARGO_BIN_EXE_deskline");

/// A user whose clients have no command of their own.
struct User {
    home: tempfile::TempDir,
}

impl User {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("bin")).unwrap();
        fs::create_dir(home.path().join("project")).unwrap();
        Self { home }
    }

    fn run(&self, line: &str) -> Output {
        Command::new(DESKLINE)
            .args(line.split(' '))
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", self.home.path().join("bin"))
            .current_dir(self.home.path().join("project"))
            .output()
            .unwrap()
    }

    #[track_caller]
    fn ok(&self, line: &str) -> String {
        let output = self.run(line);
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {printed}{error}");
        printed
    }

    #[track_caller]
    fn fails(&self, line: &str) -> String {
        let output = self.run(line);
        assert_eq!(output.status.code(), Some(1), "{line}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    fn write(&self, file: &str, text: &str) -> PathBuf {
        let path = self.home.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.home.path().join(file)).unwrap()
    }

    /// A program in the user's `PATH` that records its arguments.
    fn program(&self, name: &str) -> PathBuf {
        let noted = self.home.path().join(format!("{name}.arguments"));
        let script = format!(
            "#!/bin/sh\nfor a; do echo \"$a\"; done > '{}'\n",
            noted.display()
        );
        let path = self.write(&format!("bin/{name}"), &script);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        noted
    }
}

struct Case {
    client: &'static str,
    file: &'static str,
    /// The file as a user wrote it.
    text: &'static str,
    /// The text that `install` adds, with `PROGRAM` for the program's path.
    added: &'static str,
}

const CASES: [Case; 15] = [
    Case {
        client: "claude-code",
        file: ".claude.json",
        text: "{\n  \"numStartups\": 12,\n  \"projects\": {\n    \"/home/ann/site\": {\
            \n      \"allowedTools\": [],\n      \"mcpServers\": {}\n    }\n  },\
            \n  \"mcpServers\": {\n    \"github\": {\n      \"type\": \"http\",\
            \n      \"url\": \"https://api.example.com/mcp/\"\n    }\n  },\n  \"userID\": \"f00\"\
            \n}",
        added: ",\n    \"deskline\": {\n      \"command\": \"PROGRAM\",\n      \"args\": []\n    }",
    },
    Case {
        client: "claude-code --project",
        file: "project/.mcp.json",
        text: "{\"mcpServers\":{\"db\":{\"command\":\"npx\",\"args\":[\"-y\",\"db-mcp\"]}}}\n",
        added: ",\n    \"deskline\": {\n      \"command\": \"PROGRAM\",\n      \"args\": []\n    }",
    },
    Case {
        client: "claude-desktop",
        file: ".config/Claude/claude_desktop_config.json",
        text: "{\n\t\"globalShortcut\": \"Ctrl+Space\"\n}\n",
        added: ",\n\t\"mcpServers\": {\n\t\t\"deskline\": {\n\t\t\t\"command\": \"PROGRAM\",\
            \n\t\t\t\"args\": []\n\t\t}\n\t}",
    },
    Case {
        client: "cursor",
        file: ".cursor/mcp.json",
        text: "{\r\n    \"mcpServers\": {}\r\n}\r\n",
        added: "\r\n        \"deskline\": {\r\n            \"command\": \"PROGRAM\",\
            \r\n            \"args\": []\r\n        }\r\n    ",
    },
    Case {
        client: "vscode",
        file: ".config/Code/User/mcp.json",
        text: "{\n\t// what the team uses\n\t\"inputs\": [],\n\t\"servers\": {\
            \n\t\t\"tests\": { \"type\": \"stdio\", \"command\": \"npx\", }, // slow\
            \n\t\t/* none more */\n\t},\n}\n",
        added: "\n\t\t\"deskline\": {\n\t\t\t\"type\": \"stdio\",\n\t\t\t\"command\": \"PROGRAM\",\
            \n\t\t\t\"args\": [],\n\t\t},",
    },
    Case {
        client: "zed",
        file: ".config/zed/settings.json",
        text: "// Zed settings\n//\
            \n// For information on how to configure Zed, see the documentation.\n{\
            \n  \"ui_font_size\": 16,\n  \"theme\": {\n    \"mode\": \"system\",\
            \n    \"light\": \"One Light\",\n    \"dark\": \"One Dark\",\n  },\n}\n",
        added: "\n  \"context_servers\": {\n    \"deskline\": {\n      \"source\": \"custom\",\
            \n      \"command\": \"PROGRAM\",\n      \"args\": []\n    }\n  },",
    },
    Case {
        client: "windsurf",
        file: ".codeium/windsurf/mcp_config.json",
        text: "{\n  \"mcpServers\": {\n    // \"old\": {\"command\": \"old\"}\n  }\n}",
        added: "\n    \"deskline\": {\n      \"command\": \"PROGRAM\",\n      \"args\": []\n    }",
    },
    Case {
        client: "codex",
        file: ".codex/config.toml",
        text: "model = \"o4\"   # fast\n\n[mcp_servers.docs]\ncommand = 'npx'\nargs = [\
            \n  \"-y\", \"docs-mcp\", # pinned\n]\n\n[tui]\nnotifications = true",
        added: "\n[mcp_servers.deskline]\ncommand = \"PROGRAM\"\nargs = []\n",
    },
    Case {
        client: "codex --project",
        file: "project/.codex/config.toml",
        text: "mcp_servers = {docs = {command = \"npx\"}}\n",
        added: ", deskline = { command = \"PROGRAM\", args = [] } ",
    },
    Case {
        client: "antigravity",
        file: ".gemini/config/mcp_config.json",
        text: "{\n  \"mcpServers\": {}\n}\n",
        added: "\n    \"deskline\": {\n      \"command\": \"PROGRAM\",\n      \"args\": []\n    }\n  ",
    },
    Case {
        client: "antigravity --project",
        file: "project/.agents/mcp_config.json",
        text: "{}\n",
        added: "\n  \"mcpServers\": {\n    \"deskline\": {\n      \"command\": \"PROGRAM\",\
            \n      \"args\": []\n    }\n  }\n",
    },
    Case {
        client: "cline",
        file: ".cline/data/settings/cline_mcp_settings.json",
        text: "{\n  \"mcpServers\": {}\n}",
        added: "\n    \"deskline\": {\n      \"command\": \"PROGRAM\",\n      \"args\": []\n    }\n  ",
    },
    Case {
        client: "goose",
        file: ".config/goose/config.yaml",
        text: "GOOSE_PROVIDER: anthropic # by key\nextensions: # mine\n    developer:\
            \n        bundled: true\n        enabled: true\n        type: builtin\n\n# how it asks\
            \nGOOSE_MODE: 'auto'\n",
        added: "    deskline:\n      enabled: true\n      type: stdio\n      name: deskline\
            \n      cmd: \"PROGRAM\"\n      args: []\n      timeout: 300\n",
    },
    Case {
        client: "opencode",
        file: ".config/opencode/opencode.json",
        text: "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  // quiet\
            \n  \"autoupdate\": false\n}\n",
        added: ",\n  \"mcp\": {\n    \"deskline\": {\n      \"type\": \"local\",\
            \n      \"command\": [\"PROGRAM\"],\n      \"enabled\": true\n    }\n  }",
    },
    Case {
        client: "opencode --project",
        file: "project/opencode.json",
        text: "{\n  \"mcp\": {}\n}\n",
        added: "\n    \"deskline\": {\n      \"type\": \"local\",\
            \n      \"command\": [\"PROGRAM\"],\n      \"enabled\": true\n    }\n  ",
    },
];

/// The text without white space.
fn bare(text: &str) -> String {
    text.split_whitespace().collect()
}

#[test]
fn install_then_uninstall_restores_every_byte() {
    for Case {
        client,
        file,
        text,
        added,
    } in CASES
    {
        let user = User::new();
        let path = user.write(file, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let printed = user.ok(&format!("install {client}"));
        assert!(
            printed.contains(file.rsplit('/').next().unwrap()),
            "{client}: {printed}"
        );
        let now = user.read(file);
        let added = added.replace("PROGRAM", DESKLINE);
        let at = now
            .find(&added)
            .unwrap_or_else(|| panic!("{client}: {now}"));
        let without = format!("{}{}", &now[..at], &now[at + added.len()..]);
        assert_eq!(bare(&without), bare(text), "{client}");
        // A file of one line, and a TOML file, get other white space.
        if text.trim().contains('\n') && !file.ends_with("toml") {
            assert_eq!(without, text, "{client}");
        }
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let again = user.ok(&format!("install {client}"));
        assert!(again.contains("already"), "{client}: {again}");
        user.ok(&format!("uninstall {client}"));
        assert_eq!(user.read(file), text, "{client}");
        assert_eq!(
            fs::read_dir(path.parent().unwrap())
                .unwrap()
                .filter(|e| {
                    e.as_ref()
                        .unwrap()
                        .file_name()
                        .to_string_lossy()
                        .contains("before-deskline")
                })
                .count(),
            0
        );
        let none = user.ok(&format!("uninstall {client}"));
        assert!(none.contains("has no deskline"), "{client}: {none}");
    }
}

#[test]
fn uninstall_removes_only_the_entry_from_a_changed_file() {
    for Case {
        client, file, text, ..
    } in CASES
    {
        let user = User::new();
        user.write(file, text);
        user.ok(&format!("install {client}"));
        let now = user.read(file);
        let changed = if file.ends_with("toml") {
            format!("# a new line\n{now}\n[history]\nmax = 5\n")
        } else if file.ends_with("yaml") {
            format!("# a new line\n{now}\nGOOSE_TOOLSHIM: true\n")
        } else {
            now.replacen('{', "{\"new\": [1, 2],", 1)
        };
        user.write(file, &changed);
        user.ok(&format!("uninstall {client}"));
        let left = user.read(file);
        assert!(!left.contains("deskline"), "{client}: {left}");
        for line in text.lines().map(str::trim).filter(|l| l.len() > 3) {
            let line = line.trim_start_matches('{').trim_end_matches(',');
            assert!(
                bare(&left).contains(&bare(line)),
                "{client}: {line} in {left}"
            );
        }
        user.ok(&format!("install {client}"));
        assert!(user.read(file).contains(DESKLINE));
    }
}

#[test]
fn a_file_that_install_created_is_removed_by_uninstall() {
    for Case { client, file, .. } in CASES {
        let user = User::new();
        user.ok(&format!("install {client} --dry-run"));
        assert!(!user.home.path().join(file).exists(), "{client}");
        user.ok(&format!("install {client} -- --desktop private=800x600"));
        let made = user.read(file);
        assert!(made.contains(DESKLINE), "{client}: {made}");
        let arguments: String = made.split_whitespace().collect();
        assert!(
            arguments.contains(r#""--desktop","private=800x600"]"#),
            "{client}: {made}"
        );
        // Installing again replaces the options of the server.
        user.ok(&format!("install {client}"));
        assert!(!user.read(file).contains("private"), "{client}");
        user.ok(&format!("uninstall {client}"));
        let left = fs::read_to_string(user.home.path().join(file)).unwrap_or_default();
        assert!(!left.contains("deskline"), "{client}: {left}");
    }
}

#[test]
fn an_unreadable_configuration_is_left_as_it_is() {
    for (client, file, text) in [
        ("cursor", ".cursor/mcp.json", "{\"mcpServers\": {"),
        ("cursor", ".cursor/mcp.json", "[1, 2]"),
        ("cursor", ".cursor/mcp.json", "{\"mcpServers\": []}"),
        (
            "cursor",
            ".cursor/mcp.json",
            "{\"mcpServers\": {}, \"mcpServers\": {\"a\": {}}}",
        ),
        ("codex", ".codex/config.toml", "[mcp_servers\n"),
        ("codex", ".codex/config.toml", "mcp_servers = 5\n"),
        ("goose", ".config/goose/config.yaml", "extensions: [\n"),
        ("goose", ".config/goose/config.yaml", "- 1\n"),
        (
            "goose",
            ".config/goose/config.yaml",
            "extensions: {developer: {enabled: true}}\n",
        ),
    ] {
        let user = User::new();
        user.write(file, text);
        let printed = user.fails(&format!("install {client}"));
        assert!(printed.contains("left as it is"), "{text}: {printed}");
        assert_eq!(user.read(file), text);
    }
    let user = User::new();
    let path = user.write(".cursor/mcp.json", "");
    fs::write(&path, b"{\"a\": \"\xff\"}").unwrap();
    assert!(user.fails("install cursor").contains("UTF-8"));
    assert!(
        user.fails("install windsurf --project")
            .contains("Leave --project out")
    );
    let printed = user.fails("install codex -- --bogus");
    assert!(printed.contains("'--bogus'"), "{printed}");
    assert!(!user.home.path().join(".codex").exists());
}

#[test]
fn a_symlink_to_the_file_stays_a_symlink() {
    let user = User::new();
    let target = user.write("dotfiles/cursor.json", "{}\n");
    fs::create_dir(user.home.path().join(".cursor")).unwrap();
    let link = user.home.path().join(".cursor/mcp.json");
    symlink(&target, &link).unwrap();
    user.ok("install cursor");
    assert!(link.is_symlink());
    assert!(user.read("dotfiles/cursor.json").contains(DESKLINE));
    user.ok("uninstall cursor");
    assert_eq!(user.read("dotfiles/cursor.json"), "{}\n");
}

#[test]
fn a_clients_own_command_is_used_if_it_is_installed() {
    let user = User::new();
    let claude = user.program("claude");
    user.ok("install claude-code -- --read-only");
    let asked = fs::read_to_string(&claude).unwrap();
    assert_eq!(
        asked.lines().collect::<Vec<_>>(),
        [
            "mcp",
            "add",
            "--scope",
            "user",
            "deskline",
            "--",
            DESKLINE,
            "--read-only"
        ]
    );
    user.ok("uninstall claude-code --project");
    let asked = fs::read_to_string(&claude).unwrap();
    assert_eq!(
        asked.lines().collect::<Vec<_>>(),
        ["mcp", "remove", "--scope", "project", "deskline"]
    );
    let codex = user.program("codex");
    user.ok("install codex");
    let asked = fs::read_to_string(&codex).unwrap();
    assert_eq!(
        asked.lines().collect::<Vec<_>>(),
        ["mcp", "add", "deskline", "--", DESKLINE]
    );
    user.ok("install codex --project");
    assert!(user.read("project/.codex/config.toml").contains(DESKLINE));
    assert!(!user.home.path().join(".claude.json").exists());
    let shown = user.ok("install codex --dry-run");
    assert!(shown.contains("mcp add deskline --"), "{shown}");
}

#[test]
fn the_opencode_file_with_comments_is_used_if_it_exists() {
    let user = User::new();
    user.write("project/opencode.jsonc", "{} // ours\n");
    user.ok("install opencode --project");
    assert!(user.read("project/opencode.jsonc").contains(DESKLINE));
    assert!(!user.home.path().join("project/opencode.json").exists());
}

/// Starts the server as a client does.
#[test]
fn an_installed_entry_starts_a_server() {
    let user = User::new();
    user.ok("install cursor -- --read-only");
    let config: serde_json::Value = serde_json::from_str(&user.read(".cursor/mcp.json")).unwrap();
    let entry = &config["mcpServers"]["deskline"];
    let program = Path::new(entry["command"].as_str().unwrap());
    assert!(program.is_absolute());
    let arguments = entry["args"].as_array().unwrap();
    let mut server = Command::new(program)
        .args(arguments.iter().map(|a| a.as_str().unwrap()))
        .env("DESKLINE_DIR", user.home.path().join("journal"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let hello = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}
    }});
    writeln!(server.stdin.as_mut().unwrap(), "{hello}").unwrap();
    let mut answer = String::new();
    let mut out = BufReader::new(server.stdout.take().unwrap());
    out.read_line(&mut answer).unwrap();
    drop(server.stdin.take());
    assert!(server.wait().unwrap().success());
    assert!(
        answer.contains("\"serverInfo\"") && answer.contains("deskline"),
        "{answer}"
    );
}

/// A project's folder may come from anybody.
#[test]
fn a_backup_is_neither_written_nor_read_through_a_symlink() {
    let user = User::new();
    let own = user.write("own.txt", "mine");
    user.write("project/.cursor/mcp.json", "{\"theirs\": 1}");
    let link = user
        .home
        .path()
        .join("project/.cursor/mcp.json.before-deskline");
    symlink(&own, &link).unwrap();
    user.ok("install cursor --project");
    assert_eq!(user.read("own.txt"), "mine");
    assert!(link.symlink_metadata().unwrap().is_file());
    fs::remove_file(&link).unwrap();
    symlink(&own, &link).unwrap();
    user.ok("uninstall cursor --project");
    assert_eq!(user.read("own.txt"), "mine");
    assert!(!user.read("project/.cursor/mcp.json").contains("mine"));
}

// Other systems keep the configuration elsewhere.
#[cfg(target_os = "linux")]
#[test]
fn status_reports_the_version_the_files_and_the_configured_clients() {
    let user = User::new();
    let file = user.write(".config/deskline/config.toml", "read-only = true\n");
    user.ok("install cursor -- --ask");
    let log = user.home.path().join("log");
    let status = user.ok(&format!("status --dir {}", log.display()));
    let client = user.home.path().join(".cursor/mcp.json");
    for line in [
        format!("version  {}, {DESKLINE}", env!("CARGO_PKG_VERSION")),
        format!("config   {}", file.display()),
        format!("log      {}", log.display()),
        format!("client   Cursor ({}): {DESKLINE} --ask", client.display()),
    ] {
        assert!(
            status.lines().any(|said| said == line),
            "{status} lacks {line}"
        );
    }
    user.ok("uninstall cursor");
    let status = user.ok(&format!("status --dir {}", log.display()));
    assert!(status.contains("\nclients  none"), "{status}");
}

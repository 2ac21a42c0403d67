//! The MCP clients: the file in which each lists its servers, the format of the file, and the
//! client's own command that changes it, if any.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ValueEnum;
use serde_json::{Value, json};

use super::server::{NAME, Server};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Codex,
    Cursor,
    Vscode,
    Zed,
    Windsurf,
    Antigravity,
    Cline,
    Goose,
    Opencode,
}

/// The format of a configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// JSON that may have comments and trailing commas.
    Json(Kind),
    Toml,
    Yaml,
}

/// The fields of an entry besides command and arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    /// A field `"type": "stdio"`, which VS Code requires.
    Typed,
    /// A field `"source": "custom"`, which distinguishes the server from a Zed extension.
    Custom,
    /// The program and its arguments in one list, as OpenCode requires.
    OneList,
}

impl Kind {
    pub(super) fn entry(self, server: &Server) -> Value {
        let (command, args) = (&server.program, &server.arguments);
        match self {
            Self::Plain => json!({"command": command, "args": args}),
            Self::Typed => json!({"type": "stdio", "command": command, "args": args}),
            Self::Custom => json!({"source": "custom", "command": command, "args": args}),
            Self::OneList => {
                let words: Vec<&String> = std::iter::once(command).chain(args).collect();
                json!({"type": "local", "command": words, "enabled": true})
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    client: Client,
    /// Whether the configuration is for one project, not for all projects of the user.
    project: bool,
    pub(super) path: PathBuf,
    /// The object, table or mapping with the servers.
    pub(super) section: &'static str,
    pub(super) format: Format,
}

impl Client {
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Codex => "Codex",
            Self::Cursor => "Cursor",
            Self::Vscode => "VS Code",
            Self::Zed => "Zed",
            Self::Windsurf => "Windsurf",
            Self::Antigravity => "Antigravity",
            Self::Cline => "Cline",
            Self::Goose => "Goose",
            Self::Opencode => "OpenCode",
        }
    }

    pub(super) const fn next_step(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Start a new session of Claude Code; /mcp shows the server.",
            Self::ClaudeDesktop => "Quit Claude Desktop and start it again.",
            Self::Codex => "Start a new session of Codex; /mcp shows the server.",
            Self::Cursor => "In Cursor, under Customize › MCPs, switch the server on.",
            Self::Vscode => "In VS Code run the command \"MCP: List Servers\" and start it.",
            Self::Zed => "Zed starts it at once; its Agent Panel's settings show it.",
            Self::Windsurf => "In Windsurf's Cascade panel, under MCP, press Refresh.",
            Self::Antigravity => "Start Antigravity again; /mcp shows the server.",
            Self::Cline => "Cline starts it at once; its MCP Servers panel shows it.",
            Self::Goose => "Start a new session of Goose.",
            Self::Opencode => "Start OpenCode again; `opencode mcp list` shows the server.",
        }
    }

    /// Where the servers are in its file, and the file's format.
    const fn format(self) -> (&'static str, Format) {
        match self {
            Self::ClaudeCode
            | Self::ClaudeDesktop
            | Self::Cursor
            | Self::Windsurf
            | Self::Antigravity
            | Self::Cline => ("mcpServers", Format::Json(Kind::Plain)),
            Self::Codex => ("mcp_servers", Format::Toml),
            Self::Vscode => ("servers", Format::Json(Kind::Typed)),
            Self::Zed => ("context_servers", Format::Json(Kind::Custom)),
            Self::Goose => ("extensions", Format::Yaml),
            Self::Opencode => ("mcp", Format::Json(Kind::OneList)),
        }
    }

    /// The location of this client's list of servers: in this project's folder, or in the user's.
    pub(super) fn location(self, project: Option<&Path>) -> Result<Location, String> {
        let path = match project {
            Some(folder) => self.in_project(folder).ok_or_else(|| {
                format!(
                    "{} has no configuration of a project's own. Leave --project out",
                    self.title()
                )
            })?,
            None => self.in_home()?,
        };
        let (section, format) = self.format();
        Ok(Location {
            client: self,
            project: project.is_some(),
            path,
            section,
            format,
        })
    }

    fn in_project(self, folder: &Path) -> Option<PathBuf> {
        Some(folder.join(match self {
            Self::ClaudeCode => ".mcp.json",
            Self::Codex => ".codex/config.toml",
            Self::Cursor => ".cursor/mcp.json",
            Self::Vscode => ".vscode/mcp.json",
            Self::Zed => ".zed/settings.json",
            Self::Antigravity => ".agents/mcp_config.json",
            Self::Opencode => return Some(opencode(folder)),
            Self::ClaudeDesktop | Self::Windsurf | Self::Cline | Self::Goose => return None,
        }))
    }

    fn in_home(self) -> Result<PathBuf, String> {
        let home = home()?;
        Ok(match self {
            Self::ClaudeCode => home.join(".claude.json"),
            Self::ClaudeDesktop => {
                let package = if cfg!(windows) {
                    claude_package(&home)
                } else {
                    None
                };
                let roaming = package.unwrap_or_else(|| app_data(&home));
                roaming.join("Claude/claude_desktop_config.json")
            }
            Self::Codex => {
                let own = std::env::var_os("CODEX_HOME").map(PathBuf::from);
                own.unwrap_or_else(|| home.join(".codex"))
                    .join("config.toml")
            }
            Self::Cursor => home.join(".cursor/mcp.json"),
            Self::Vscode => app_data(&home).join("Code/User/mcp.json"),
            // Zed uses XDG paths on macOS too.
            Self::Zed if cfg!(windows) => app_data(&home).join("Zed/settings.json"),
            Self::Zed => config(&home).join("zed/settings.json"),
            Self::Windsurf => home.join(".codeium/windsurf/mcp_config.json"),
            Self::Antigravity => home.join(".gemini/config/mcp_config.json"),
            // From version 4 on; older versions keep the file in VS Code's folder.
            Self::Cline => home.join(".cline/data/settings/cline_mcp_settings.json"),
            // Goose and OpenCode use XDG paths on macOS too.
            Self::Goose if cfg!(windows) => app_data(&home).join("Block/goose/config/config.yaml"),
            Self::Goose => config(&home).join("goose/config.yaml"),
            Self::Opencode => opencode(&config(&home).join("opencode")),
        })
    }
}

impl Location {
    /// The client's own command that adds a server, if there is one and the client is installed.
    /// `None` for a project in Codex: `codex mcp` edits only the user's configuration.
    pub(super) fn own_command(&self, server: &Server) -> Option<Command> {
        let mut command = self.mcp("add")?;
        command.arg(NAME).arg("--").arg(&server.program);
        command.args(&server.arguments);
        Some(command)
    }

    /// The client's own command that removes the server.
    pub(super) fn own_removal(&self) -> Option<Command> {
        let mut command = self.mcp("remove")?;
        command.arg(NAME);
        Some(command)
    }

    fn mcp(&self, verb: &str) -> Option<Command> {
        let program = match self.client {
            Client::ClaudeCode => "claude",
            Client::Codex if !self.project => "codex",
            _ => return None,
        };
        let mut command = Command::new(in_path(program)?);
        command.args(["mcp", verb]);
        if self.client == Client::ClaudeCode {
            let scope = if self.project { "project" } else { "user" };
            command.args(["--scope", scope]);
        }
        Some(command)
    }
}

fn home() -> Result<PathBuf, String> {
    std::env::home_dir()
        .filter(|home| home.is_absolute())
        .ok_or_else(|| "there is no home directory: HOME is not set".into())
}

/// OpenCode's configuration in a folder: `opencode.jsonc`, if it exists.
fn opencode(folder: &Path) -> PathBuf {
    let commented = folder.join("opencode.jsonc");
    if commented.is_file() {
        return commented;
    }
    folder.join("opencode.json")
}

/// `$XDG_CONFIG_HOME`, or `~/.config`.
fn config(home: &Path) -> PathBuf {
    std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .unwrap_or_else(|| home.join(".config"))
}

/// The folder with the user's configurations.
pub(crate) fn settings_folder() -> Option<PathBuf> {
    let home = home().ok()?;
    Some(if cfg!(windows) {
        app_data(&home)
    } else {
        config(&home)
    })
}

/// The folder with the data of Electron apps.
fn app_data(home: &Path) -> PathBuf {
    if cfg!(target_os = "macos") {
        home.join("Library/Application Support")
    } else if cfg!(windows) {
        let roaming = std::env::var_os("APPDATA").map(PathBuf::from);
        roaming.unwrap_or_else(|| home.join("AppData/Roaming"))
    } else {
        config(home)
    }
}

/// The folder to which Windows redirects `%APPDATA%` for the packaged Claude Desktop. Since 2026,
/// the package is the usual form of Claude Desktop. It never reads the real `%APPDATA%`.
fn claude_package(home: &Path) -> Option<PathBuf> {
    let local = std::env::var_os("LOCALAPPDATA").map(PathBuf::from);
    let local = local.unwrap_or_else(|| home.join("AppData/Local"));
    let packages = std::fs::read_dir(local.join("Packages")).ok()?.flatten();
    let mut packages = packages.filter(|e| e.file_name().to_string_lossy().starts_with("Claude_"));
    Some(packages.next()?.path().join("LocalCache/Roaming"))
}

/// Finds a program in `PATH`. On Windows it must be executable: beside `claude.cmd`, npm installs a
/// shell script `claude`.
pub(crate) fn in_path(program: &str) -> Option<PathBuf> {
    const ENDINGS: &[&str] = if cfg!(windows) {
        &[".com", ".exe", ".bat", ".cmd"]
    } else {
        &[""]
    };
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .flat_map(|folder| {
            ENDINGS
                .iter()
                .map(move |end| folder.join(format!("{program}{end}")))
        })
        .find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        file.metadata()
            .is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    file.is_file()
}

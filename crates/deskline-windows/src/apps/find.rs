//! Finds the program that the agent means by an identifier.

use std::env;
use std::path::{Path, PathBuf};

use deskline_contract::apps::{by_word, installed, not_found};
use deskline_contract::{Identity, OpenError, Result};

use super::shell::{self, Opener};
use crate::process;

/// How many levels of folders of the Start menu to search.
const LEVELS: usize = 2;

/// A program to start.
pub(super) struct Program {
    pub(super) name: String,
    /// The path of the executable. If there is an `id`, the path of the document to open.
    pub(super) path: PathBuf,
    /// The arguments as one string, quoted as on a command line.
    pub(super) arguments: String,
    pub(super) folder: Option<PathBuf>,
    /// The id of an app in a package, which has no path to start.
    pub(super) id: Option<String>,
    /// Whether the arguments come from a shortcut that the user may change.
    is_command: bool,
}

impl Program {
    fn new(path: PathBuf) -> Self {
        Self {
            name: process::stem(&path),
            folder: env::home_dir(),
            arguments: String::new(),
            id: None,
            is_command: false,
            path,
        }
    }

    fn packaged(name: String, id: String) -> Self {
        Self {
            name,
            id: Some(id),
            ..Self::new(PathBuf::new())
        }
    }

    /// The program's identity, as the system knows it before the program runs.
    pub(super) fn identity(&self) -> Identity {
        let mut known = match &self.id {
            Some(id) => Identity::named(id),
            None => process::identity(&self.path),
        };
        known.claims.push(self.name.clone());
        known.is_command |= self.is_command;
        known
    }
}

pub(super) fn find(identifier: &str) -> Result<Program> {
    if identifier.is_empty() {
        return Err(
            OpenError::Empty("an app's name, the path of a program or a file, or a URL").into(),
        );
    }
    let id = identifier
        .strip_prefix(r"shell:AppsFolder\")
        .unwrap_or(identifier);
    if shell::is_packaged(id) {
        return Ok(Program::packaged(id.to_owned(), id.to_owned()));
    }
    // A single letter before the colon is a drive, not a scheme.
    let scheme = identifier.split_once(':').map(|(scheme, _)| scheme);
    if let Some(scheme) = scheme.filter(|scheme| scheme.len() > 1 && !scheme.contains(['\\', '/']))
    {
        let opener = shell::opener(scheme);
        let opener = opener.ok_or_else(|| OpenError::NoAppForScheme(scheme.to_owned()))?;
        return Ok(with(opener, identifier));
    }
    if identifier.contains(['\\', '/', ':']) {
        return by_path(identifier);
    }
    let wanted = name(identifier);
    let shortcuts = shortcuts();
    let stem = |path: &Path| name(&process::stem(path));
    let exact = || shortcuts.iter().filter(|path| stem(path) == wanted);
    let file = format!("{}.exe", without_exe(identifier));
    let found = exact().find_map(|path| shortcut(path));
    let found = found.or_else(|| Some(Program::new(shell::in_path(&file)?)));
    if let Some(found) = found {
        return Ok(found);
    }
    let packaged = shell::packaged();
    if let Some((app, id)) = packaged.iter().find(|(app, _)| name(app) == wanted) {
        return Ok(Program::packaged(app.clone(), id.clone()));
    }
    if let Some(found) = by_word(&shortcuts, &wanted, stem).and_then(|path| shortcut(path)) {
        return Ok(found);
    }
    let names = shortcuts.iter().map(|path| process::stem(path));
    let names: Vec<String> = names
        .chain(packaged.into_iter().map(|(app, _)| app))
        .collect();
    let forms = "a name as in the Start menu, the name of an executable, an app's id, or a path";
    Err(not_found(identifier, &wanted, &names, forms).into())
}

/// The program that opens a file or a URL, with the file or the URL as its argument.
fn with(opener: Opener, argument: &str) -> Program {
    match opener {
        Opener::Program(path) => Program {
            // A quote would end the argument. File names cannot contain one.
            arguments: format!("\"{}\"", argument.replace('"', "%22")),
            ..Program::new(path)
        },
        Opener::App(id) => Program {
            path: argument.into(),
            ..Program::packaged(id.clone(), id)
        },
    }
}

fn by_path(identifier: &str) -> Result<Program> {
    let path = PathBuf::from(identifier);
    if !path.is_absolute() {
        return Err(OpenError::RelativePath(identifier.to_owned()).into());
    }
    if !path.exists() {
        return Err(OpenError::NoSuchPath(path).into());
    }
    if path.is_dir() {
        let explorer = shell::in_path("explorer.exe");
        let explorer = explorer.ok_or(OpenError::NotAnApp(path))?;
        // If the path has forward slashes, Explorer opens another folder.
        let folder = identifier.replace('/', "\\");
        return Ok(with(Opener::Program(explorer), &folder));
    }
    let kind = path
        .extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    match kind.as_str() {
        "exe" | "com" => Ok(Program::new(path)),
        "lnk" => shortcut(&path).ok_or_else(|| OpenError::NotAnApp(path).into()),
        _ => {
            let opener = shell::opener(&format!(".{kind}")).filter(|_| !kind.is_empty());
            let opener = opener.ok_or_else(|| OpenError::no_app_for_file(&path, &kind))?;
            Ok(with(opener, identifier))
        }
    }
}

/// The program of a shortcut. `None` for shortcuts to web pages.
fn shortcut(path: &Path) -> Option<Program> {
    let link = shell::shortcut(path)?;
    let name = path.file_stem()?.to_string_lossy().into_owned();
    let is_program = link.path.extension()?.eq_ignore_ascii_case("exe");
    let for_all = env::var_os("PROGRAMDATA").is_some_and(|root| path.starts_with(root));
    is_program.then(|| Program {
        name,
        id: None,
        is_command: !for_all && !link.arguments.is_empty(),
        arguments: link.arguments,
        folder: link
            .folder
            .filter(|folder| folder.is_dir())
            .or_else(env::home_dir),
        path: link.path,
    })
}

/// The shortcuts of the Start menu.
fn shortcuts() -> Vec<PathBuf> {
    let roots = ["APPDATA", "PROGRAMDATA"].into_iter();
    let of = |root| {
        let folder = Path::new(&root).join(r"Microsoft\Windows\Start Menu\Programs");
        installed(&folder, LEVELS, is_shortcut)
    };
    roots.filter_map(env::var_os).flat_map(of).collect()
}

fn is_shortcut(path: &Path) -> bool {
    let kind = path.extension();
    kind.is_some_and(|kind| kind.eq_ignore_ascii_case("lnk"))
}

/// Normalizes a name for comparison: lower case, single spaces, no `.exe`.
fn name(text: &str) -> String {
    let lower = without_exe(text).to_lowercase();
    lower.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(super) fn without_exe(name: &str) -> &str {
    let at = name.len().saturating_sub(4);
    match name.split_at_checked(at) {
        Some((bare, end)) if end.eq_ignore_ascii_case(".exe") => bare,
        _ => name,
    }
}

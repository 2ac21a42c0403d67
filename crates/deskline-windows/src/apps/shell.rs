//! Asks the Windows shell for programs: search path, file associations, shortcuts.

use std::path::{Path, PathBuf};

use windows::Win32::Foundation::MAX_PATH;
use windows::Win32::Storage::FileSystem::SearchPathW;
use windows::Win32::System::Com::{
    CLSCTX_INPROC_SERVER, COINIT_MULTITHREADED, CoCreateInstance, CoInitializeEx, IPersistFile,
    STGM_READ,
};
use windows::Win32::UI::Shell::{
    ASSOCF_NONE, ASSOCSTR_EXECUTABLE, AssocQueryStringW, IShellLinkW, ShellLink,
};
use windows::core::{HSTRING, Interface as _, PCWSTR, PWSTR};

/// The size of buffers for paths and arguments, in UTF-16 units.
const LONGEST: usize = 1024;

/// Decodes a null-terminated string.
fn text(units: &[u16]) -> String {
    let end = units.iter().position(|unit| *unit == 0);
    String::from_utf16_lossy(&units[..end.unwrap_or(units.len())])
}

fn path(units: &[u16]) -> Option<PathBuf> {
    let text = text(units);
    // Paths in the registry may be quoted.
    let bare = text.trim_matches('"');
    (!bare.is_empty()).then(|| PathBuf::from(bare))
}

/// The program with this file name in the system's folder or on the path.
pub(super) fn in_path(file: &str) -> Option<PathBuf> {
    let mut found = [0; LONGEST];
    // SAFETY: the call is given the buffer's length, and the text outlives it.
    let length = unsafe {
        SearchPathW(
            PCWSTR::null(),
            &HSTRING::from(file),
            PCWSTR::null(),
            Some(&mut found),
            None,
        )
    };
    found.get(..length as usize).and_then(path)
}

/// The program that opens files with this extension (`.txt`), or URLs of this scheme.
pub(super) fn opener(kind: &str) -> Option<PathBuf> {
    let mut found = [0; LONGEST];
    let mut length = found.len() as u32;
    let start = PWSTR(found.as_mut_ptr());
    let kind = HSTRING::from(kind);
    // SAFETY: the call is given the buffer's length, and the text outlives it.
    unsafe {
        let none = PCWSTR::null();
        AssocQueryStringW(
            ASSOCF_NONE,
            ASSOCSTR_EXECUTABLE,
            &kind,
            none,
            Some(start),
            &raw mut length,
        )
    }
    .ok()
    .ok()?;
    path(&found).filter(|path| path.is_absolute() && path.exists())
}

/// The contents of a shortcut.
pub(super) struct Link {
    pub(super) path: PathBuf,
    pub(super) arguments: String,
    pub(super) folder: Option<PathBuf>,
}

pub(super) fn shortcut(file: &Path) -> Option<Link> {
    let (mut target, mut arguments, mut folder) =
        ([0; MAX_PATH as usize], [0; LONGEST], [0; MAX_PATH as usize]);
    // SAFETY: calls of COM with buffers that outlive them, on a thread that has COM.
    unsafe {
        // The thread may be initialised already.
        let _ = CoInitializeEx(None, COINIT_MULTITHREADED);
        let link: IShellLinkW = CoCreateInstance(&ShellLink, None, CLSCTX_INPROC_SERVER).ok()?;
        let reads: IPersistFile = link.cast().ok()?;
        reads.Load(&HSTRING::from(file), STGM_READ).ok()?;
        link.GetPath(&mut target, std::ptr::null_mut(), 0).ok()?;
        let _ = link.GetArguments(&mut arguments);
        let _ = link.GetWorkingDirectory(&mut folder);
    }
    Some(Link {
        path: path(&target)?,
        arguments: text(&arguments),
        folder: path(&folder),
    })
}

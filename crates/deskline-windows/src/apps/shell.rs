//! Asks the Windows shell for programs: search path, file associations, shortcuts, and apps with an
//! id (`AppUserModelID`), which those from the Store have.

use std::path::{Path, PathBuf};

use windows::Win32::Foundation::MAX_PATH;
use windows::Win32::Storage::FileSystem::SearchPathW;
use windows::Win32::System::Com::{
    CLSCTX_INPROC_SERVER, CLSCTX_LOCAL_SERVER, COINIT_MULTITHREADED, CoCreateInstance,
    CoInitializeEx, CoTaskMemFree, IPersistFile, STGM_READ,
};
use windows::Win32::UI::Shell::{
    AO_NONE, ASSOCF_NONE, ASSOCSTR_EXECUTABLE, ApplicationActivationManager, AssocQueryStringW,
    BHID_EnumItems, FOLDERID_AppsFolder, IApplicationActivationManager, IEnumShellItems,
    IShellItem, IShellLinkW, KF_FLAG_DEFAULT, SHGetKnownFolderItem, SIGDN, SIGDN_NORMALDISPLAY,
    SIGDN_PARENTRELATIVEPARSING, ShellLink,
};
use windows::core::{HSTRING, Interface as _, PCWSTR, PWSTR, Result};

use crate::os::text;

/// The size of buffers for paths and arguments, in UTF-16 units.
const LONGEST: usize = 1024;

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

/// The most apps to look at.
const MOST: usize = 5_000;

/// The apps of the folder `shell:AppsFolder` that have an id of a package: their names and ids.
pub(super) fn packaged() -> Vec<(String, String)> {
    let mut found = Vec::new();
    // SAFETY: calls of COM with arguments that outlive them, on a thread that has COM.
    let listed: Result<()> = unsafe {
        // The thread may be initialised already.
        let _ = CoInitializeEx(None, COINIT_MULTITHREADED);
        SHGetKnownFolderItem(&FOLDERID_AppsFolder, KF_FLAG_DEFAULT, None).and_then(
            |folder: IShellItem| {
                let items: IEnumShellItems = folder.BindToHandler(None, &BHID_EnumItems)?;
                let mut item = [None];
                while found.len() < MOST && items.Next(&mut item, None).is_ok() {
                    let Some(app) = item[0].take() else { break };
                    let Ok(id) = name_of(&app, SIGDN_PARENTRELATIVEPARSING) else {
                        continue;
                    };
                    // Other apps are found by their shortcuts.
                    if is_packaged(&id)
                        && let Ok(name) = name_of(&app, SIGDN_NORMALDISPLAY)
                    {
                        found.push((name, id));
                    }
                }
                Ok(())
            },
        )
    };
    if let Err(error) = listed {
        tracing::debug!(%error, "the list of apps is incomplete");
    }
    found
}

/// Whether this id is that of an app in a package: `family_publisher!app`.
pub(super) fn is_packaged(id: &str) -> bool {
    id.split_once('!').is_some_and(|(family, app)| {
        family.contains('_') && !app.is_empty() && !id.contains(['\\', '/', ':', ' '])
    })
}

fn name_of(item: &IShellItem, kind: SIGDN) -> Result<String> {
    // SAFETY: the text is freed once, after it was copied.
    unsafe {
        let text = item.GetDisplayName(kind)?;
        let name = String::from_utf16_lossy(text.as_wide());
        CoTaskMemFree(Some(text.0.cast()));
        Ok(name)
    }
}

/// Starts an app in a package, or brings it to the front. Returns its pid.
pub(super) fn activate(id: &str) -> Result<u32> {
    // SAFETY: calls of COM with arguments that outlive them, on a thread that has COM.
    unsafe {
        let _ = CoInitializeEx(None, COINIT_MULTITHREADED);
        let manager: IApplicationActivationManager =
            CoCreateInstance(&ApplicationActivationManager, None, CLSCTX_LOCAL_SERVER)?;
        manager.ActivateApplication(&HSTRING::from(id), PCWSTR::null(), AO_NONE)
    }
}

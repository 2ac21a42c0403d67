//! Asks the Windows shell for programs: search path, file associations, shortcuts, and apps with an
//! id (`AppUserModelID`), such as those from the Store.

use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::Duration;

use windows::Win32::Foundation::MAX_PATH;
use windows::Win32::Storage::FileSystem::SearchPathW;
use windows::Win32::System::ApplicationInstallationAndServicing::{
    INSTALLSTATE_LOCAL, MsiGetComponentPathW, MsiGetShortcutTargetW,
};
use windows::Win32::System::Com::{
    CLSCTX_INPROC_SERVER, CLSCTX_LOCAL_SERVER, COINIT_MULTITHREADED, CoCreateInstance,
    CoInitializeEx, CoTaskMemFree, IDispatch, IPersistFile, IServiceProvider, STGM_READ,
};
use windows::Win32::System::Registry::{
    HKEY, HKEY_CURRENT_USER, HKEY_LOCAL_MACHINE, RRF_RT_REG_DWORD, RRF_RT_REG_SZ, RegGetValueW,
};
use windows::Win32::System::Variant::VARIANT;
use windows::Win32::UI::Shell::{
    AO_NONE, ASSOCF_NONE, ASSOCSTR, ASSOCSTR_APPID, ASSOCSTR_EXECUTABLE,
    ApplicationActivationManager, AssocQueryStringW, BHID_EnumItems, FOLDERID_AppsFolder,
    IApplicationActivationManager, IEnumShellItems, IShellBrowser, IShellDispatch2,
    IShellFolderViewDual, IShellItem, IShellLinkW, IShellWindows, KF_FLAG_DEFAULT,
    SHGetKnownFolderItem, SID_STopLevelBrowser, SIGDN, SIGDN_NORMALDISPLAY,
    SIGDN_PARENTRELATIVEPARSING, SVGIO_BACKGROUND, SWC_DESKTOP, SWFO_NEEDDISPATCH, ShellLink,
    ShellWindows,
};
use windows::Win32::UI::WindowsAndMessaging::SW_SHOWNORMAL;
use windows::core::{BSTR, HSTRING, Interface as _, PCWSTR, PWSTR, Result};

use crate::os::text;

/// The size of buffers for paths and arguments, in UTF-16 units.
const LONGEST: usize = 1024;

fn path(units: &[u16]) -> Option<PathBuf> {
    let text = text(units);
    // Paths in the registry may be quoted.
    let bare = text.trim_matches('"');
    (!bare.is_empty()).then(|| PathBuf::from(bare))
}

/// The program with this file name: in the system's folder, on the search path, or where its
/// installer has registered it (`App Paths`).
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
    let found = found.get(..length as usize).and_then(path);
    found.or_else(|| announced(file))
}

fn announced(file: &str) -> Option<PathBuf> {
    let key = format!(r"Software\Microsoft\Windows\CurrentVersion\App Paths\{file}");
    let roots = [HKEY_CURRENT_USER, HKEY_LOCAL_MACHINE].into_iter();
    let mut found = roots.filter_map(|root| path(&registered(root, &key, "")?));
    found.find(|path| path.exists())
}

/// A value in the registry: a text, or a number in the first units of the result.
pub(crate) fn registered(root: HKEY, key: &str, value: &str) -> Option<[u16; LONGEST]> {
    let (key, value) = (HSTRING::from(key), HSTRING::from(value));
    let mut found = [0_u16; LONGEST];
    let mut size = size_of_val(&found) as u32;
    let start = found.as_mut_ptr().cast::<c_void>();
    let kinds = RRF_RT_REG_SZ | RRF_RT_REG_DWORD;
    // SAFETY: the call is given the buffer's size, and the texts outlive it.
    let read = unsafe {
        let size = Some(&raw mut size);
        RegGetValueW(root, &key, &value, kinds, None, Some(start), size)
    };
    read.ok().ok().map(|()| found)
}

/// What opens files with this extension (`.txt`), or URLs of this scheme.
pub(super) enum Opener {
    Program(PathBuf),
    /// The id of an app in a package.
    App(String),
}

pub(super) fn opener(kind: &str) -> Option<Opener> {
    let kind = HSTRING::from(kind);
    let program = association(&kind, ASSOCSTR_EXECUTABLE)
        .as_deref()
        .and_then(path);
    // For an app in a package, Windows names no program, or the program that asks which app to use.
    let asks = |path: &Path| crate::process::stem(path).eq_ignore_ascii_case("openwith");
    let program = program.filter(|path| path.is_absolute() && path.exists() && !asks(path));
    program.map(Opener::Program).or_else(|| {
        let id = text(&association(&kind, ASSOCSTR_APPID)?);
        is_packaged(&id).then_some(Opener::App(id))
    })
}

fn association(kind: &HSTRING, what: ASSOCSTR) -> Option<Vec<u16>> {
    let mut found = vec![0; LONGEST];
    let mut length = found.len() as u32;
    let start = PWSTR(found.as_mut_ptr());
    // SAFETY: the call is given the buffer's length, and the text outlives it.
    let asked = unsafe {
        let none = PCWSTR::null();
        AssocQueryStringW(ASSOCF_NONE, what, kind, none, Some(start), &raw mut length)
    };
    asked.is_ok().then_some(found)
}

/// How long to wait until Explorer has started a program. Explorer takes longer while it asks the
/// person.
const STARTS: Duration = Duration::from_secs(5);

/// Has Explorer open a program or a document, as if the person did: with the person's environment
/// and `AppData`, and outside of the client's job. The end of a client's job ends all processes in
/// it, and a client from the Store gives its child processes an `AppData` of their own. An error if
/// there is no Explorer.
pub(super) fn by_explorer(file: &Path, arguments: &str, folder: Option<&Path>) -> Result<()> {
    let folder = folder.unwrap_or(Path::new("")).to_string_lossy();
    let texts = [file.to_string_lossy(), arguments.into(), folder].map(String::from);
    let (say, said) = channel();
    std::thread::spawn(move || {
        // SAFETY: calls of COM with arguments that outlive them, on a thread that has COM.
        let done = unsafe {
            let _ = CoInitializeEx(None, COINIT_MULTITHREADED);
            explorer().and_then(|shell| {
                let [file, arguments, folder] = &texts;
                let [arguments, folder, verb, show] = [
                    VARIANT::from(arguments.as_str()),
                    VARIANT::from(folder.as_str()),
                    VARIANT::from("open"),
                    VARIANT::from(SW_SHOWNORMAL.0),
                ];
                let file = BSTR::from(file.as_str());
                shell.ShellExecute(&file, &arguments, &folder, &verb, &show)
            })
        };
        let _ = say.send(done);
    });
    said.recv_timeout(STARTS).unwrap_or(Ok(()))
}

/// The shell's object in Explorer's process, found through the view of the desktop.
unsafe fn explorer() -> Result<IShellDispatch2> {
    // SAFETY: calls of COM with arguments that outlive them; the caller has initialised COM.
    unsafe {
        let windows: IShellWindows = CoCreateInstance(&ShellWindows, None, CLSCTX_LOCAL_SERVER)?;
        let (none, mut window) = (VARIANT::default(), 0);
        let desktop = windows.FindWindowSW(
            &raw const none,
            &raw const none,
            SWC_DESKTOP,
            &raw mut window,
            SWFO_NEEDDISPATCH,
        )?;
        let services: IServiceProvider = desktop.cast()?;
        let browser: IShellBrowser = services.QueryService(&SID_STopLevelBrowser)?;
        let view: IDispatch = browser
            .QueryActiveShellView()?
            .GetItemObject(SVGIO_BACKGROUND)?;
        view.cast::<IShellFolderViewDual>()?.Application()?.cast()
    }
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
        path: advertised(file).or_else(|| path(&target))?,
        arguments: text(&arguments),
        folder: path(&folder),
    })
}

/// The program of a shortcut of Windows Installer. A shortcut of this kind contains the path of its
/// icon, or no path.
fn advertised(file: &Path) -> Option<PathBuf> {
    // The length of a GUID in braces, and of the longest name of a feature, with a final zero.
    let [mut product, mut feature, mut component] = [[0_u16; 39]; 3];
    let mut found = [0; LONGEST];
    let mut length = found.len() as u32;
    let start = |buffer: &mut [u16]| PWSTR(buffer.as_mut_ptr());
    // SAFETY: the buffers outlive the calls, and have the sizes that the calls require.
    let state = unsafe {
        let parts = [&mut product, &mut feature, &mut component].map(|part| Some(start(part)));
        if MsiGetShortcutTargetW(&HSTRING::from(file), parts[0], parts[1], parts[2]) != 0 {
            return None;
        }
        let [product, component] = [&product, &component].map(|text| PCWSTR(text.as_ptr()));
        MsiGetComponentPathW(
            product,
            component,
            Some(start(&mut found)),
            Some(&raw mut length),
        )
    };
    path(&found).filter(|_| state == INSTALLSTATE_LOCAL)
}

/// The maximum number of apps to list.
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
                    // Apps without a package are found by their shortcuts.
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

/// Whether this is the id of an app in a package: `family_publisher!app`.
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

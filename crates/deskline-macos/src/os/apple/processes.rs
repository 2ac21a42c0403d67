//! Processes, and apps as `NSWorkspace` reports them.

use std::ffi::{CStr, OsStr, c_char, c_int};
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use block2::RcBlock;
use objc2::rc::Retained;
use objc2_app_kit::{
    NSApplicationActivationOptions, NSApplicationActivationPolicy, NSRunningApplication,
    NSWorkspace, NSWorkspaceOpenConfiguration,
};
use objc2_foundation::{NSActivityOptions, NSError, NSProcessInfo, NSString, NSURL};

use crate::os::{Launch, Process, RunningApp};

/// The size of the buffer for a UUID from `sysctl`, in bytes.
const UUID: usize = 64;

/// The maximum number of child processes to count.
const CHILDREN: usize = 64;

/// Calls `proc_pidinfo` for one of its structures.
fn info<T>(pid: u32, flavor: c_int) -> Option<T> {
    let size = c_int::try_from(mem::size_of::<T>()).ok()?;
    let mut info = mem::MaybeUninit::<T>::zeroed();
    // SAFETY: the callers pass the flavor whose structure is `T`, which has only integers; the
    // buffer has `size` bytes.
    unsafe {
        let got = libc::proc_pidinfo(pid as c_int, flavor, 0, info.as_mut_ptr().cast(), size);
        (got == size).then(|| info.assume_init())
    }
}

pub(super) fn process(pid: u32) -> Option<Process> {
    let short: libc::proc_bsdshortinfo = info(pid, libc::PROC_PIDT_SHORTBSDINFO)?;
    // `PROC_PIDTBSDINFO` is refused for another user's process, such as root's login between
    // Terminal and a shell.
    let long: Option<libc::proc_bsdinfo> = info(pid, libc::PROC_PIDTBSDINFO);
    let bytes = short.pbsi_comm.map(|c: c_char| c as u8);
    let name = CStr::from_bytes_until_nul(&bytes).ok();
    Some(Process {
        parent: short.pbsi_ppid,
        started: long.map_or(0, |long| long.pbi_start_tvsec),
        name: name.unwrap_or_default().to_string_lossy().into_owned(),
    })
}

unsafe extern "C" {
    /// The function is in libSystem, but in no header (WebKit and Chromium declare it too).
    fn responsibility_get_pid_responsible_for_pid(pid: c_int) -> c_int;
}

pub(super) fn responsible(pid: u32) -> Option<(u32, PathBuf)> {
    // SAFETY: the argument is a plain value.
    let pid = unsafe { responsibility_get_pid_responsible_for_pid(pid as c_int) };
    let mut path = [0_u8; libc::PROC_PIDPATHINFO_MAXSIZE as usize];
    // SAFETY: the call gets the size of the buffer.
    let length = unsafe { libc::proc_pidpath(pid, path.as_mut_ptr().cast(), path.len() as u32) };
    let path = path.get(..usize::try_from(length).ok()?)?;
    Some((pid as u32, PathBuf::from(OsStr::from_bytes(path))))
}

// Deprecated in favour of a crate that binds all of Mach, but only this one function is needed.
#[allow(deprecated)]
pub(super) fn computed(pid: u32) -> Option<Duration> {
    let mut children = [0 as libc::pid_t; CHILDREN];
    let size = c_int::try_from(mem::size_of_val(&children)).ok()?;
    // SAFETY: the call gets the size of the buffer, and returns how many pids it has written there.
    let count =
        unsafe { libc::proc_listchildpids(pid as libc::pid_t, children.as_mut_ptr().cast(), size) };
    let mut time = libc::mach_timebase_info { numer: 0, denom: 0 };
    // SAFETY: the call writes the structure to a local variable.
    unsafe { libc::mach_timebase_info(&raw mut time) };
    let ticks = |pid: u32| {
        let info: libc::proc_taskinfo = info(pid, libc::PROC_PIDTASKINFO)?;
        Some(info.pti_total_user.saturating_add(info.pti_total_system))
    };
    let own = ticks(pid)?;
    let count = usize::try_from(count).unwrap_or(0).min(CHILDREN);
    let theirs = children[..count]
        .iter()
        .filter_map(|&child| ticks(child as u32));
    let sum = theirs.fold(own, u64::saturating_add);
    let nanoseconds = u128::from(sum) * u128::from(time.numer) / u128::from(time.denom.max(1));
    u64::try_from(nanoseconds).ok().map(Duration::from_nanos)
}

fn described(app: &NSRunningApplication) -> RunningApp {
    let text = |text: Option<Retained<NSString>>| text.map(|t| t.to_string()).unwrap_or_default();
    RunningApp {
        pid: app.processIdentifier() as u32,
        name: text(app.localizedName()),
        bundle_id: text(app.bundleIdentifier()),
        path: text(app.bundleURL().and_then(|url| url.path())).into(),
        regular: app.activationPolicy() == NSApplicationActivationPolicy::Regular,
        finished: app.isFinishedLaunching(),
    }
}

pub(super) fn apps() -> Vec<RunningApp> {
    let apps = NSWorkspace::sharedWorkspace().runningApplications();
    apps.to_vec().iter().map(|app| described(app)).collect()
}

fn running(pid: u32) -> Option<Retained<NSRunningApplication>> {
    NSRunningApplication::runningApplicationWithProcessIdentifier(pid as libc::pid_t)
}

pub(super) fn app(pid: u32) -> Option<RunningApp> {
    running(pid).map(|app| described(&app))
}

pub(super) fn activate(pid: u32) -> bool {
    // Without this option a background process activates nothing, in any version (Hammerspoon2
    // #228). Up to macOS 26, a trusted process activates apps with it (AltTab #5510).
    #[allow(deprecated)]
    let how = NSApplicationActivationOptions::ActivateIgnoringOtherApps;
    running(pid).is_some_and(|app| app.activateWithOptions(how))
}

pub(super) fn quit(pid: u32) -> bool {
    running(pid).is_some_and(|app| app.terminate())
}

pub(super) fn launch(launch: &Launch, time: Duration) -> Result<u32, String> {
    let (send, receive) = mpsc::channel();
    let opened = RcBlock::new(move |app: *mut NSRunningApplication, error: *mut NSError| {
        // SAFETY: each pointer is null, or the system owns its object during the call.
        let answer = match unsafe { (app.as_ref(), error.as_ref()) } {
            (Some(app), _) => Ok(app.processIdentifier() as u32),
            (None, Some(e)) => Err(e.localizedDescription().to_string()),
            (None, None) => Err("LaunchServices gave neither an app nor an error".into()),
        };
        let _ = send.send(answer);
    });
    let url = NSURL::fileURLWithPath(&NSString::from_str(&launch.path.to_string_lossy()));
    let how = NSWorkspaceOpenConfiguration::configuration();
    how.setActivates(true);
    let workspace = NSWorkspace::sharedWorkspace();
    let opened = Some(&*opened);
    if launch.document {
        workspace.openURL_configuration_completionHandler(&url, &how, opened);
    } else {
        workspace.openApplicationAtURL_configuration_completionHandler(&url, &how, opened);
    }
    receive
        .recv_timeout(time)
        .unwrap_or_else(|_| Err("LaunchServices did not answer in time".into()))
}

pub(super) fn bundle_path(bundle_id: &str) -> Option<PathBuf> {
    let id = NSString::from_str(bundle_id);
    let url = NSWorkspace::sharedWorkspace().URLForApplicationWithBundleIdentifier(&id)?;
    Some(PathBuf::from(url.path()?.to_string()))
}

pub(super) fn app_folders() -> Vec<PathBuf> {
    let own = std::env::home_dir().map(|home| home.join("Applications"));
    let all = [
        "/Applications",
        "/System/Applications",
        "/System/Library/CoreServices",
    ];
    own.into_iter().chain(all.map(PathBuf::from)).collect()
}

pub(super) fn stay_awake() {
    let how = NSActivityOptions::UserInitiatedAllowingIdleSystemSleep
        | NSActivityOptions::LatencyCritical;
    let why = NSString::from_str("an agent operates apps");
    // The activity would end when its object is dropped.
    mem::forget(NSProcessInfo::processInfo().beginActivityWithOptions_reason(how, &why));
}

pub(super) fn session() -> String {
    let mut uuid = [0_u8; UUID];
    let mut size = uuid.len();
    // SAFETY: the name ends in a null, and the call gets the size of its buffer; getuid takes no
    // arguments.
    let (status, user) = unsafe {
        let status = libc::sysctlbyname(
            c"kern.bootsessionuuid".as_ptr(),
            uuid.as_mut_ptr().cast(),
            &raw mut size,
            std::ptr::null_mut(),
            0,
        );
        (status, libc::getuid())
    };
    let uuid = CStr::from_bytes_until_nul(&uuid)
        .ok()
        .filter(|_| status == 0);
    let uuid = uuid.unwrap_or_default().to_string_lossy();
    format!("macos-{user}-{uuid}")
}

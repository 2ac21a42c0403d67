//! Accesses the folder by its path. The folder cannot be replaced while its handle is open, because
//! the handle does not share deletion. Its access control list is for the user alone, and is
//! inherited by its files.

use std::fs::{File, OpenOptions};
use std::os::windows::ffi::OsStrExt as _;
use std::os::windows::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::os::windows::io::AsRawHandle as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{io, ptr};

use deskline_input::wait;
use windows::Win32::Foundation::{
    ERROR_ALREADY_EXISTS, ERROR_LOCK_VIOLATION, GENERIC_READ, GENERIC_WRITE, HANDLE, HLOCAL,
    LocalFree,
};
use windows::Win32::Security::Authorization::{
    ConvertSidToStringSidW, ConvertStringSecurityDescriptorToSecurityDescriptorW, GetSecurityInfo,
    SDDL_REVISION_1, SE_FILE_OBJECT,
};
use windows::Win32::Security::{
    ACCESS_ALLOWED_ACE, ACE_HEADER, ACL, DACL_SECURITY_INFORMATION, GetAce, GetTokenInformation,
    OWNER_SECURITY_INFORMATION, PSECURITY_DESCRIPTOR, PSID, SECURITY_ATTRIBUTES, TOKEN_QUERY,
    TOKEN_USER, TokenUser,
};
use windows::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, CreateDirectoryW, FILE_ATTRIBUTE_DIRECTORY,
    FILE_ATTRIBUTE_REPARSE_POINT, FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT,
    FILE_SHARE_READ, FILE_SHARE_WRITE, FILE_TYPE_DISK, GetFileInformationByHandle, GetFileType,
    LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx, READ_CONTROL,
};
use windows::Win32::System::IO::OVERLAPPED;
use windows::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};
use windows::core::{PCWSTR, PWSTR};

use super::{Identity, Open};
use crate::name::TEMPORARY;
use crate::{JournalError, Result};

/// The byte to lock. Windows lets no other process read a locked byte, so this byte is far beyond
/// the content.
const LOCKED: u64 = 1 << 62;

/// How many times to wait for a file that is being replaced, and (`GAP`) how long each time.
const GAPS: u32 = 4;
const GAP: Duration = Duration::from_millis(4);

/// `ACCESS_ALLOWED_ACE_TYPE`
const ALLOWED: u8 = 0;

/// The principals that may read everything on the machine anyway (the system, administrators), or
/// stand for the owner. Apart from them and the user, nobody may have access.
const HARMLESS: [&str; 4] = ["S-1-5-18", "S-1-5-32-544", "S-1-3-0", "S-1-3-4"];

/// The group that owns the files which an elevated process of an administrator has created.
const ADMINISTRATORS: &str = "S-1-5-32-544";

/// 100 ns steps from 1601 to 1970.
const EPOCH: u64 = 116_444_736_000_000_000;

/// A checked folder.
pub(crate) struct Handle {
    path: PathBuf,
    file: File,
}

/// Creates the folder for this user alone. An existing folder is no error.
pub(crate) fn create(path: &Path) -> io::Result<()> {
    let user = user()?;
    let list = wide(format!("O:{user}D:P(A;OICI;FA;;;{user})").as_ref());
    let wide = wide(path.as_os_str());
    let mut descriptor = PSECURITY_DESCRIPTOR::default();
    // SAFETY: both texts end in a null and outlive the calls; the descriptor is freed once.
    let created = unsafe {
        ConvertStringSecurityDescriptorToSecurityDescriptorW(
            PCWSTR(list.as_ptr()),
            SDDL_REVISION_1,
            &raw mut descriptor,
            None,
        )?;
        let attributes = SECURITY_ATTRIBUTES {
            nLength: size_of::<SECURITY_ATTRIBUTES>() as u32,
            lpSecurityDescriptor: descriptor.0,
            bInheritHandle: false.into(),
        };
        let created = CreateDirectoryW(PCWSTR(wide.as_ptr()), Some(&raw const attributes));
        LocalFree(Some(HLOCAL(descriptor.0)));
        created
    };
    match created {
        Err(error) if error.code() != ERROR_ALREADY_EXISTS.to_hresult() => Err(error.into()),
        _ => Ok(()),
    }
}

impl Handle {
    /// Opens a folder. Refuses a link, a folder of another user, and a folder that other users can
    /// access.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let fail = |error: io::Error| JournalError::io("open the log", path, error);
        let file = OpenOptions::new()
            .access_mode(GENERIC_READ.0 | READ_CONTROL.0)
            .share_mode((FILE_SHARE_READ | FILE_SHARE_WRITE).0)
            .custom_flags((FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT).0)
            .open(path)
            .map_err(fail)?;
        let attributes = file.metadata().map_err(fail)?.file_attributes();
        if attributes & FILE_ATTRIBUTE_REPARSE_POINT.0 != 0 {
            return Err(JournalError::Symlink(path.to_owned()));
        }
        if attributes & FILE_ATTRIBUTE_DIRECTORY.0 == 0 {
            return Err(JournalError::NotAFolder(path.to_owned()));
        }
        let user = user().map_err(fail)?;
        let (owner, others) = security(&file, &user).map_err(fail)?;
        if owner != user && owner != ADMINISTRATORS {
            let path = path.to_owned();
            return Err(JournalError::Foreign { path, owner });
        }
        if !others.is_empty() {
            let shown = path.display();
            return Err(JournalError::OpenToOthers {
                path: path.to_owned(),
                how: others.join(", "),
                close: format!("icacls \"{shown}\" /inheritance:r /grant:r *{user}:(OI)(CI)F"),
            });
        }
        let path = path.to_owned();
        Ok(Self { path, file })
    }

    /// Whether the path still leads to this folder.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        let there = OpenOptions::new()
            .access_mode(0)
            .custom_flags((FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT).0)
            .open(path);
        let there = there.and_then(|there| identity(&there)).ok();
        there.is_some() && there == identity(&self.file).ok()
    }

    /// Opens the regular file `name`; never follows a link.
    pub(crate) fn file(&self, name: &str, open: Open) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT.0);
        match open {
            Open::Read => options.read(true),
            Open::Write | Open::Lock => options
                .access_mode(GENERIC_READ.0 | GENERIC_WRITE.0)
                .write(true)
                .create(true),
            Open::New => options.write(true).create_new(true),
        };
        let path = self.path.join(name);
        // The file may be about to be replaced by `replace_open`.
        if open == Open::Write {
            let exists = || path.try_exists().unwrap_or(true).then_some(());
            let _ = wait::briefly(GAPS * GAP, GAP, exists);
        }
        let file = options.open(path)?;
        // SAFETY: the handle is open.
        let on_disk = unsafe { GetFileType(handle(&file)) } == FILE_TYPE_DISK;
        if on_disk && is_regular(file.metadata()?.file_attributes()) {
            Ok(file)
        } else {
            Err(io::ErrorKind::InvalidInput.into())
        }
    }

    /// Renames a file; replaces a file that already has the new name.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let (from, to) = (self.path.join(from), self.path.join(to));
        match std::fs::rename(&from, &to) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                replace_open(&from, &to).map_err(|_| error)
            }
            renamed => renamed,
        }
    }

    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        std::fs::remove_file(self.path.join(name))
    }

    /// Sets the times of `name` to now.
    pub(crate) fn touch(&self, name: &str) -> io::Result<()> {
        let now = std::fs::FileTimes::new().set_modified(std::time::SystemTime::now());
        let path = self.path.join(name);
        OpenOptions::new().write(true).open(path)?.set_times(now)
    }

    /// The names in the folder, in no order. Skips names that are not Unicode: all of ours are.
    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for item in std::fs::read_dir(&self.path)? {
            names.extend(item?.file_name().into_string());
        }
        Ok(names)
    }

    /// The size in bytes and modification time (seconds since the epoch) of the regular file
    /// `name`; `None` if there is none.
    pub(crate) fn regular(&self, name: &str) -> Option<(u64, u64)> {
        let metadata = self.path.join(name).symlink_metadata().ok()?;
        let seconds = metadata.last_write_time().saturating_sub(EPOCH) / 10_000_000;
        is_regular(metadata.file_attributes()).then_some((metadata.file_size(), seconds))
    }

    /// Whether the folder no longer has this open file under `name`.
    pub(crate) fn is_replaced(&self, name: &str, file: &File) -> io::Result<bool> {
        match self.file(name, Open::Read) {
            Ok(there) => Ok(identity(&there)? != identity(file)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
            Err(error) => Err(error),
        }
    }
}

/// Locks the file against all other processes and threads until the file is dropped. `false` if
/// another process or thread has the lock.
pub(crate) fn try_lock(file: &File) -> io::Result<bool> {
    let mut at = OVERLAPPED::default();
    at.Anonymous.Anonymous.Offset = LOCKED as u32;
    at.Anonymous.Anonymous.OffsetHigh = (LOCKED >> 32) as u32;
    let flags = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
    // SAFETY: the handle is open, and the call does not outlive `at`: it fails rather than waits.
    match unsafe { LockFileEx(handle(file), flags, None, 1, 0, &raw mut at) } {
        Ok(()) => Ok(true),
        Err(error) if error.code() == ERROR_LOCK_VIOLATION.to_hresult() => Ok(false),
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn identity(file: &File) -> io::Result<Identity> {
    let mut information = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open, the structure as large as the call expects.
    unsafe { GetFileInformationByHandle(handle(file), &raw mut information)? };
    let index =
        (u64::from(information.nFileIndexHigh) << 32) | u64::from(information.nFileIndexLow);
    Ok((information.dwVolumeSerialNumber.into(), index))
}

/// The path as agents get it: with forward slashes, which Windows accepts and shells do not take
/// for escapes.
pub(crate) fn readable(path: PathBuf) -> PathBuf {
    match path.to_str() {
        // After this prefix Windows accepts no forward slashes.
        Some(text) if !text.starts_with(r"\\?\") => text.replace('\\', "/").into(),
        _ => path,
    }
}

/// The journal's default place. Not in `AppData`: servers that a client from the Store starts see
/// another `AppData` than the person's programs.
pub(crate) fn default_path() -> io::Result<PathBuf> {
    let missing = "the environment has no USERPROFILE: name a folder with --dir";
    let home = std::env::home_dir();
    let home = home.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, missing))?;
    Ok(home.join(".deskline"))
}

/// The folder to use if the default one belongs to another user.
pub(crate) fn own_default(path: &Path) -> PathBuf {
    let user = user().unwrap_or_default();
    path.with_file_name(format!(".deskline-{user}"))
}

/// Reads and writes at an offset. Moves the file's own position, which nothing here uses.
pub(crate) trait At {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    fn write_at(&self, buffer: &[u8], offset: u64) -> io::Result<usize>;

    fn read_exact_at(&self, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            let read = self.read_at(buffer, offset)?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            buffer = &mut buffer[read..];
            offset += read as u64;
        }
        Ok(())
    }

    fn write_all_at(&self, mut buffer: &[u8], mut offset: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            let written = self.write_at(buffer, offset)?;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            buffer = &buffer[written..];
            offset += written as u64;
        }
        Ok(())
    }
}

impl At for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.seek_read(buffer, offset)
    }

    fn write_at(&self, buffer: &[u8], offset: u64) -> io::Result<usize> {
        self.seek_write(buffer, offset)
    }
}

/// Replaces a file that is open, on file systems that cannot do so in one step: FAT, shares of
/// others, Wine. (NTFS can.) For a moment there is no file under the name.
fn replace_open(from: &Path, to: &Path) -> io::Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let aside = to.with_file_name(format!("{TEMPORARY}{}-00{count}.tmp", std::process::id()));
    match std::fs::rename(to, &aside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let renamed = std::fs::rename(from, to).inspect_err(|_| {
        let _ = std::fs::rename(&aside, to);
    });
    // If this fails, retention removes the file later.
    let _ = std::fs::remove_file(&aside);
    renamed
}

fn is_regular(attributes: u32) -> bool {
    attributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT).0 == 0
}

fn handle(file: &File) -> HANDLE {
    HANDLE(file.as_raw_handle())
}

fn wide(text: &std::ffi::OsStr) -> Vec<u16> {
    text.encode_wide().chain([0]).collect()
}

/// The SID of this process's user, as text.
fn user() -> io::Result<String> {
    // `TOKEN_USER` and the longest SID after it fit; `u64` gives the alignment.
    let mut buffer = [0_u64; 16];
    let mut length = 0;
    // SAFETY: the buffer is as large as the call is given, and the token is closed once.
    unsafe {
        let mut token = HANDLE::default();
        OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw mut token)?;
        let _close = windows::core::Owned::new(token);
        let start = buffer.as_mut_ptr();
        let size = size_of_val(&buffer) as u32;
        GetTokenInformation(token, TokenUser, Some(start.cast()), size, &raw mut length)?;
        sid_text((*start.cast::<TOKEN_USER>()).User.Sid)
    }
}

/// # Safety
/// The SID must be valid.
unsafe fn sid_text(sid: PSID) -> io::Result<String> {
    let mut text = PWSTR::null();
    // SAFETY: the call gives a text that ends in a null, freed once.
    unsafe {
        ConvertSidToStringSidW(sid, &raw mut text)?;
        let copied = text.to_string();
        LocalFree(Some(HLOCAL(text.0.cast())));
        copied.map_err(io::Error::other)
    }
}

/// The folder's owner, and everybody but `user` who has any right to it, as SIDs.
fn security(folder: &File, user: &str) -> io::Result<(String, Vec<String>)> {
    let mut owner = PSID::default();
    let mut list: *mut ACL = ptr::null_mut();
    let mut descriptor = PSECURITY_DESCRIPTOR::default();
    // SAFETY: owner and list point into the descriptor, which is freed after both were read.
    unsafe {
        GetSecurityInfo(
            handle(folder),
            SE_FILE_OBJECT,
            OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION,
            Some(&raw mut owner),
            None,
            Some(&raw mut list),
            None,
            Some(&raw mut descriptor),
        )
        .ok()?;
        let read = sid_text(owner).and_then(|owner| Ok((owner, others(list, user)?)));
        LocalFree(Some(HLOCAL(descriptor.0)));
        read
    }
}

/// # Safety
/// The list must be valid, or null.
unsafe fn others(list: *const ACL, user: &str) -> io::Result<Vec<String>> {
    // SAFETY: the entries lie in the list, and entries that allow access have this form.
    unsafe {
        let Some(count) = list.as_ref().map(|list| list.AceCount) else {
            return Ok(vec!["everyone".into()]); // No list: everyone has all rights.
        };
        let mut others = Vec::new();
        for index in 0..u32::from(count) {
            let mut entry = ptr::null_mut();
            GetAce(list, index, &raw mut entry)?;
            let header = *entry.cast::<ACE_HEADER>();
            // An entry that applies only to the files inside counts too.
            if header.AceType != ALLOWED {
                continue;
            }
            let entry = entry.cast::<ACCESS_ALLOWED_ACE>();
            let sid = sid_text(PSID((&raw mut (*entry).SidStart).cast()))?;
            if (*entry).Mask != 0 && sid != user && !HARMLESS.contains(&sid.as_str()) {
                others.push(sid);
            }
        }
        others.dedup();
        Ok(others)
    }
}

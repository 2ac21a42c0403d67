//! The user at the machine, read from the files of logind or elogind. No D-Bus.

use std::fs;
use std::path::PathBuf;

/// The folder in which logind has a file for each seat. `seat0` is the machine's own screen and
/// keyboard.
#[derive(Debug)]
pub struct Seats(PathBuf);

impl Seats {
    pub fn system() -> Self {
        Self("/run/systemd/seats".into())
    }

    /// The seats in another folder, for tests.
    pub fn in_folder(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// Whether the session in front on `seat0` is this user's, and no other seat exists. With more
    /// seats it is `false`, because the keeper does not check which device belongs to which seat.
    /// Also `false` if logind does not run.
    pub fn has(&self, uid: u32) -> bool {
        let seats = fs::read_dir(&self.0).into_iter().flatten().flatten();
        // logind writes a file under a temporary name first, which begins with a dot.
        let mut names = seats
            .map(|seat| seat.file_name())
            .filter(|name| !name.as_encoded_bytes().starts_with(b"."));
        if names.next().is_none_or(|name| name != "seat0") || names.next().is_some() {
            return false;
        }
        let seat = fs::read_to_string(self.0.join("seat0")).unwrap_or_default();
        let active = |line: &str| line.strip_prefix("ACTIVE_UID=")?.parse().ok();
        seat.lines().find_map(active) == Some(uid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_user_of_the_active_session_is_at_the_seat() {
        let folder = tempfile::tempdir().unwrap();
        let seats = Seats::in_folder(folder.path().join("seats"));
        assert!(!seats.has(1000), "without a seat file");
        fs::create_dir(&seats.0).unwrap();
        assert!(!seats.has(1000));
        let write = |name: &str, text: &str| fs::write(seats.0.join(name), text).unwrap();
        write(
            "seat0",
            "# This is private data. Do not parse.\nIS_SEAT0=1\nCAN_MULTI_SESSION=1\nCAN_TTY=1\n\
            CAN_GRAPHICAL=1\nACTIVE=2\nACTIVE_UID=1000\nSESSIONS=2 c1\nUIDS=1000 117\n",
        );
        assert!(seats.has(1000) && !seats.has(117) && !seats.has(0));
        write(".#seat0abc", "ACTIVE_UID=117\n");
        assert!(seats.has(1000));
        write("seat0", "IS_SEAT0=1\nCAN_TTY=1\n");
        assert!(!seats.has(1000) && !seats.has(0), "nobody");
        write("seat0", "ACTIVE_UID=1000\n");
        write("seat-usb", "ACTIVE_UID=1001\n");
        assert!(!seats.has(1000) && !seats.has(1001), "two seats");
    }
}

//! The files of one attack: what an allowed app could have saved for the agent.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use deskline_testbed::{Bed, Running, until};

#[derive(Debug)]
pub(crate) struct Trap {
    /// It appears if the attack works.
    pub(crate) mark: PathBuf,
    /// A folder of its own.
    pub(crate) folder: PathBuf,
    home: PathBuf,
    programs: PathBuf,
    data: PathBuf,
    placed: std::cell::RefCell<Vec<PathBuf>>,
    running: std::cell::RefCell<Vec<Running>>,
}

impl Trap {
    pub(crate) fn new(bed: &Bed, number: usize) -> Self {
        let folder = bed.path(&format!("trap-{number}"));
        fs::create_dir(&folder).unwrap();
        Self {
            mark: bed.path(&format!("owned-{number}")),
            folder,
            home: PathBuf::from(&bed.environment()["HOME"]),
            programs: Self::programs(bed),
            data: Self::data(bed),
            placed: std::cell::RefCell::default(),
            running: std::cell::RefCell::default(),
        }
    }

    /// The folder with which the servers' `PATH` begins.
    pub(crate) fn programs(bed: &Bed) -> PathBuf {
        let folder = bed.path("bin");
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// A folder of the session's data that the agent's apps can write.
    pub(crate) fn data(bed: &Bed) -> PathBuf {
        bed.path("data")
    }

    /// The command that the attack runs.
    pub(crate) fn touch(&self) -> String {
        format!("touch {}", self.mark.display())
    }

    /// A script for a shell that is no program.
    pub(crate) fn text(&self, name: &str) -> String {
        self.write(self.folder.join(name), &(self.touch() + "\n"))
    }

    /// A text that a shell runs, as it is executable.
    pub(crate) fn executable(&self, name: &str) -> String {
        let path = self.text(name);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A path to a file that lies at this place for a process in a namespace of its own.
    pub(crate) fn elsewhere(&self, file: &str, place: &str) -> String {
        let run = "mount --bind \"$0\" \"$1\" && exec sleep 99";
        let mut command = std::process::Command::new("unshare");
        command.args(["--mount", "sh", "-c", run, file, place]);
        let process = Running(command.spawn().unwrap());
        let path = format!("/proc/{}/root{place}", process.0.id());
        self.running.borrow_mut().push(process);
        let is_there = || fs::read(&path).ok() == fs::read(file).ok();
        until("the namespace", is_there);
        path
    }

    /// A file in the trap's folder.
    pub(crate) fn file(&self, name: &str, content: &str) -> String {
        self.write(self.folder.join(name), content)
    }

    /// A program in the trap's folder.
    pub(crate) fn program(&self, name: &str) -> String {
        self.make_program(self.folder.join(name))
    }

    /// A program in the first folder of `PATH`.
    pub(crate) fn in_path(&self, name: &str) -> String {
        self.make_program(self.programs.join(name))
    }

    /// A program in the home.
    pub(crate) fn home_program(&self, name: &str) -> String {
        self.make_program(self.home.join(name))
    }

    /// A file in the home.
    pub(crate) fn at_home(&self, name: &str, content: &str) -> String {
        self.write(self.home.join(name), content)
    }

    /// A desktop file in the home's menu.
    pub(crate) fn entry(&self, id: &str, keys: &str) -> String {
        let lines = format!("[Desktop Entry]\nType=Application\n{keys}\n");
        self.at_home(&format!(".local/share/applications/{id}.desktop"), &lines)
    }

    /// A desktop file in the session's first data folder.
    pub(crate) fn in_data(&self, id: &str, keys: &str) -> String {
        let lines = format!("[Desktop Entry]\nType=Application\n{keys}\n");
        self.write(self.data.join(format!("applications/{id}.desktop")), &lines)
    }

    /// A link in the first folder of `PATH`.
    pub(crate) fn link_in_path(&self, name: &str, target: &str) {
        let link = self.programs.join(name);
        std::os::unix::fs::symlink(target, &link).unwrap();
        self.placed.borrow_mut().push(link);
    }

    /// The packed mark: to unpack it is the attack.
    pub(crate) fn packed(&self) -> String {
        let mut gzip = std::process::Command::new("gzip");
        let gzip = gzip.arg("-c").arg("/etc/hostname").output().unwrap();
        let packed = self.mark.with_extension("gz");
        fs::write(&packed, gzip.stdout).unwrap();
        packed.display().to_string()
    }

    /// A link to `target` in the trap's folder.
    pub(crate) fn link(&self, name: &str, target: &str) -> String {
        let link = self.folder.join(name);
        std::os::unix::fs::symlink(target, &link).unwrap();
        link.display().to_string()
    }

    /// A library whose loading is the attack.
    pub(crate) fn library(&self) -> String {
        let mark = self.mark.display();
        let code = format!(
            "#include <fcntl.h>\n__attribute__((constructor)) static void go(void)\n\
             {{ open(\"{mark}\", O_CREAT | O_WRONLY, 0600); }}\n"
        );
        let (source, library) = (self.file("x.c", &code), self.folder.join("x.so"));
        let mut cc = std::process::Command::new("cc");
        cc.args(["-shared", "-fPIC", "-o"])
            .arg(&library)
            .arg(source);
        assert!(cc.status().unwrap().success());
        library.display().to_string()
    }

    fn make_program(&self, path: PathBuf) -> String {
        let script = format!("#!/bin/sh\n{}\n", self.touch());
        let path = self.write(path, &script);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn write(&self, path: PathBuf, content: &str) -> String {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        let text = path.display().to_string();
        if !path.starts_with(&self.folder) {
            self.placed.borrow_mut().push(path);
        }
        text
    }

    /// Removes what the attack has put where other attacks find it.
    pub(crate) fn clear(&self) {
        self.running.take();
        for path in self.placed.take() {
            let _ = fs::remove_file(path);
        }
    }
}

/// The folder of a path.
pub(crate) fn folder(path: &str) -> &Path {
    Path::new(path).parent().unwrap()
}

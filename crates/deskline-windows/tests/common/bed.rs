//! Parts of the tests' bed under Wine: Designer's form, programs, and the person's input.
#![allow(dead_code, unsafe_code, clippy::unwrap_used)]

use std::fs;
use std::os::windows::io::AsRawHandle as _;
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

/// The time limit of every wait: the machine may be busy.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub const FORM: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<ui version="4.0"><class>Form</class><widget class="QWidget" name="Form">
<property name="geometry"><rect><x>0</x><y>0</y><width>400</width><height>300</height></rect></property>
<widget class="QPushButton" name="first"><property name="geometry"><rect><x>10</x><y>10</y><width>80</width>
<height>24</height></rect></property><property name="text"><string>First</string></property></widget>
<widget class="QCheckBox" name="second"><property name="geometry"><rect><x>10</x><y>60</y><width>80</width>
<height>24</height></rect></property><property name="text"><string>Second</string></property></widget>
</widget><resources/><connections/></ui>"#;

/// A program that ends with the test.
pub struct App(pub Child);

impl Drop for App {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[link(name = "ntdll")]
unsafe extern "system" {
    fn NtSuspendProcess(process: *mut std::ffi::c_void) -> i32;
    fn NtResumeProcess(process: *mut std::ffi::c_void) -> i32;
}

impl App {
    /// Stops all its threads.
    pub fn suspend(&self) {
        // SAFETY: the handle is the child's.
        assert_eq!(unsafe { NtSuspendProcess(self.0.as_raw_handle()) }, 0);
    }

    pub fn resume(&self) {
        // SAFETY: as above.
        assert_eq!(unsafe { NtResumeProcess(self.0.as_raw_handle()) }, 0);
    }
}

/// Sends a person's input by xdotool, through `testbed/windows/run`: programs on Windows can send
/// only events that are marked as injected. Returns its output; `None` on Windows itself.
pub fn person(arguments: &[&str]) -> Option<String> {
    let folder = PathBuf::from(std::env::var_os("DESKLINE_HAND")?);
    let (next, order) = (folder.join("hand.new"), folder.join("hand.do"));
    let answer = folder.join("hand.done");
    fs::write(&next, arguments.join("\n") + "\n").unwrap();
    fs::rename(&next, &order).unwrap();
    let begun = Instant::now();
    while !answer.exists() {
        assert!(begun.elapsed() < PATIENCE, "no hand for {arguments:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
    let text = fs::read_to_string(&answer).unwrap();
    fs::remove_file(&answer).unwrap();
    assert!(!text.ends_with("failed\n"), "xdotool {arguments:?}: {text}");
    Some(text)
}

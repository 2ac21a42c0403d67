//! The system calls. Nothing here makes decisions: every `if` checks the system's own result (null, an
//! error code, a type).
//!
//! Ownership follows Core Foundation's rule: the result of a function with Create or Copy in its name is
//! ours and goes into a `CFRetained` at once; the result of a Get function is the owner's, and is
//! retained before it is stored.

mod accessibility;
mod events;
mod keyboard;
pub mod main_thread;
mod panels;
mod pictures;
mod processes;
mod run_loop;
mod screen;

use std::path::PathBuf;
use std::time::Duration;

use super::{
    Ax, Display, Event, Heard, Image, Judge, Launch, Layout, LayoutKey, NewValue, Os, Panel,
    Process, RunningApp, ServerWindow, Value,
};

pub use accessibility::Element;

/// macOS.
#[derive(Debug, Clone, Copy, Default)]
pub struct Apple;

impl Os for Apple {
    type Element = Element;
    type Observer = run_loop::RunLoop;
    type Tap = run_loop::RunLoop;

    fn trusted(&self) -> bool {
        accessibility::trusted()
    }
    fn ask_for_trust(&self) {
        accessibility::ask_for_trust();
    }
    fn application(&self, pid: u32) -> Element {
        accessibility::application(pid)
    }
    fn set_timeout(&self, time: Duration) {
        accessibility::set_timeout(time);
    }
    fn hash(&self, element: &Element) -> u64 {
        accessibility::hash(element)
    }
    fn attributes(&self, element: &Element, names: &[&'static str]) -> Ax<Vec<Value<Element>>> {
        accessibility::attributes(element, names)
    }
    fn count(&self, element: &Element, name: &'static str) -> Ax<usize> {
        accessibility::count(element, name)
    }
    fn range(
        &self,
        element: &Element,
        name: &'static str,
        from: usize,
        most: usize,
    ) -> Ax<Vec<Element>> {
        accessibility::range(element, name, from, most)
    }
    fn settable(&self, element: &Element, name: &'static str) -> Ax<bool> {
        accessibility::settable(element, name)
    }
    fn set(&self, element: &Element, name: &'static str, value: &NewValue<Element>) -> Ax<()> {
        accessibility::set(element, name, value)
    }
    fn actions(&self, element: &Element) -> Ax<Vec<String>> {
        accessibility::actions(element)
    }
    fn perform(&self, element: &Element, action: &str) -> Ax<()> {
        accessibility::perform(element, action)
    }
    fn observe(
        &self,
        pid: u32,
        names: &[&'static str],
        heard: Heard<Element>,
    ) -> Ax<Self::Observer> {
        accessibility::observe(pid, names, heard)
    }
    fn computed(&self, pid: u32) -> Option<Duration> {
        processes::computed(pid)
    }
    fn process(&self, pid: u32) -> Option<Process> {
        processes::process(pid)
    }
    fn apps(&self) -> Vec<RunningApp> {
        processes::apps()
    }
    fn front_pid(&self) -> Option<u32> {
        processes::front_pid()
    }
    fn activate(&self, pid: u32) -> bool {
        processes::activate(pid)
    }
    fn launch(&self, launch: &Launch, time: Duration) -> Result<u32, String> {
        processes::launch(launch, time)
    }
    fn bundle_path(&self, bundle_id: &str) -> Option<PathBuf> {
        processes::bundle_path(bundle_id)
    }
    fn app_folders(&self) -> Vec<PathBuf> {
        processes::app_folders()
    }
    fn session(&self) -> String {
        processes::session()
    }
    fn windows(&self) -> Vec<ServerWindow> {
        screen::windows()
    }
    fn displays(&self) -> Vec<Display> {
        screen::displays()
    }
    fn may_capture(&self) -> bool {
        objc2_core_graphics::CGPreflightScreenCaptureAccess()
    }
    fn ask_to_capture(&self) {
        objc2_core_graphics::CGRequestScreenCaptureAccess();
    }
    fn capture(
        &self,
        window: u32,
        pixels: (usize, usize),
        time: Duration,
    ) -> Result<Image, String> {
        pictures::capture(window, pixels, time)
    }
    fn pointer(&self) -> (f64, f64) {
        events::pointer()
    }
    fn warp(&self, to: (f64, f64)) {
        events::warp(to);
    }
    fn post(&self, event: &Event, tag: i64) -> Result<(), String> {
        events::post(event, tag)
    }
    fn held_keys(&self) -> Vec<u16> {
        events::held_keys()
    }
    fn keys(&self, layout: Layout) -> Vec<LayoutKey> {
        keyboard::keys(layout)
    }
    fn button_held(&self) -> bool {
        events::button_held()
    }
    fn secure_input(&self) -> bool {
        keyboard::secure_input()
    }
    fn tap(&self, judge: Judge) -> Result<Self::Tap, String> {
        events::tap(judge)
    }
    fn overlay(&self, panels: &[Panel]) {
        panels::show(panels);
    }
}

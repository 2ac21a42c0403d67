//! The system calls. Nothing here makes decisions: every `if` checks the system's own result (null,
//! an error code, a type).
//!
//! Ownership follows Core Foundation's rule: the result of a function with Create or Copy in its
//! name is ours and goes into a `CFRetained` at once; the result of a Get function is the owner's,
//! and is retained before it is stored.

mod accessibility;
mod events;
mod keyboard;
pub mod main_thread;
mod panels;
mod pasteboard;
mod pictures;
mod processes;
mod run_loop;
mod screen;

use std::path::PathBuf;
use std::time::Duration;

use objc2::rc::autoreleasepool;

use super::{
    Asked, Ax, Display, Event, Heard, Image, InputSource, Judge, Launch, Layout, LayoutKey,
    NewValue, Os, Panel, PasteboardItem, Process, RunningApp, Seat, ServerWindow, Shot, Value,
    tool,
};

pub use accessibility::Element;

/// macOS.
#[derive(Debug, Clone, Copy, Default)]
pub struct Apple;

/// Each method of the trait is a function of the same name in one of the files, called in an
/// autorelease pool: the calling threads live as long as the program, and have no pool (x-win #67).
macro_rules! calls {
    ($($file:ident::$name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)?;)*) => {
        $(fn $name(&self $(, $argument: $kind)*) $(-> $result)? {
            autoreleasepool(|_| $file::$name($($argument),*))
        })*
    };
}

impl Os for Apple {
    type Element = Element;
    type Observer = run_loop::RunLoop;
    type Tap = run_loop::RunLoop;

    calls! {
        accessibility::trusted() -> bool;
        accessibility::ask_for_trust();
        accessibility::application(pid: u32) -> Element;
        accessibility::system() -> Element;
        accessibility::pid_of(element: &Element) -> Ax<u32>;
        accessibility::set_timeout(element: &Element, time: Duration);
        accessibility::hash(element: &Element) -> u64;
        accessibility::attributes(element: &Element, names: &[&'static str]) -> Ax<Vec<Value<Element>>>;
        accessibility::attribute(element: &Element, name: &'static str) -> Ax<Value<Element>>;
        accessibility::string(element: &Element, from: usize, length: usize) -> Ax<Value<Element>>;
        accessibility::element_at(at: (f64, f64)) -> Ax<Element>;
        accessibility::window_of(element: &Element) -> Option<u32>;
        accessibility::count(element: &Element, name: &'static str) -> Ax<usize>;
        accessibility::range(element: &Element, name: &'static str, from: usize, most: usize)
            -> Ax<Vec<Element>>;
        accessibility::settable(element: &Element, name: &'static str) -> Ax<bool>;
        accessibility::set(element: &Element, name: &'static str, value: &NewValue<Element>) -> Ax<()>;
        accessibility::actions(element: &Element) -> Ax<Vec<String>>;
        accessibility::perform(element: &Element, action: &str) -> Ax<()>;
        accessibility::observe(pid: u32, names: &[&'static str], heard: Heard<Element>)
            -> Ax<run_loop::RunLoop>;
        processes::computed(pid: u32) -> Option<Duration>;
        processes::process(pid: u32) -> Option<Process>;
        processes::responsible(pid: u32) -> Option<(u32, PathBuf)>;
        processes::app(pid: u32) -> Option<RunningApp>;
        processes::apps() -> Vec<RunningApp>;
        processes::activate(pid: u32) -> bool;
        processes::launch(launch: &Launch, time: Duration) -> Result<u32, String>;
        processes::bundle_path(bundle_id: &str) -> Option<PathBuf>;
        processes::app_folders() -> Vec<PathBuf>;
        tool::tool(program: &str, arguments: &[&str]) -> Option<String>;
        processes::quit(pid: u32) -> bool;
        processes::session() -> String;
        screen::windows() -> Vec<ServerWindow>;
        screen::all_windows() -> Vec<ServerWindow>;
        screen::displays() -> Vec<Display>;
        screen::seat() -> Option<Seat>;
        screen::secure_holder() -> Option<u32>;
        pictures::may_capture() -> bool;
        pictures::ask_to_capture();
        pictures::capture(shot: &Shot, time: Duration) -> Result<Image, String>;
        events::presses() -> i64;
        events::pointer() -> (f64, f64);
        events::warp(to: (f64, f64));
        events::post(event: &Event, tag: i64) -> Result<(), String>;
        events::held_keys() -> Vec<u16>;
        events::button_held() -> bool;
        events::may_tap() -> bool;
        events::tap(judge: Judge) -> Result<run_loop::RunLoop, String>;
        keyboard::keys(layout: Layout) -> Vec<LayoutKey>;
        keyboard::secure_input() -> bool;
        keyboard::input_source() -> Option<InputSource>;
        keyboard::select_source(id: Option<&str>) -> bool;
        pasteboard::pasteboard_changes() -> i64;
        pasteboard::pasteboard_types() -> Vec<Vec<String>>;
        pasteboard::pasteboard_data(item: usize, kind: &str, time: Duration)
            -> Result<Option<Vec<u8>>, String>;
        pasteboard::pasteboard_write(items: Vec<PasteboardItem>) -> Result<i64, String>;
        pasteboard::pasteboard_promise(text: &str, marks: &[&'static str], asked: Asked)
            -> Result<i64, String>;
        panels::overlay(panels: &[Panel]);
    }
}

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
macro_rules! carry_out {
    ($($(#[$doc:meta])* $file:ident::$name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)?;)*) => {
        impl Os for Apple {
            type Element = Element;
            type Observer = run_loop::RunLoop;
            type Tap = run_loop::RunLoop;

            $(fn $name(&self $(, $argument: $kind)*) $(-> $result)? {
                autoreleasepool(|_| $file::$name($($argument),*))
            })*
        }
    };
}

calls!(carry_out);

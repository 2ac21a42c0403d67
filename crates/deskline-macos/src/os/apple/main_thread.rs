//! Runs code on the main thread, as `AppKit` and the Text Input Sources require.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use dispatch2::DispatchQueue;
use objc2::MainThreadMarker;
use objc2::rc::autoreleasepool;
use objc2_core_foundation::{CFRunLoop, CFRunLoopRunResult, kCFRunLoopDefaultMode};

/// The time limit for a request to the main thread.
const TAKES: Duration = Duration::from_secs(2);

/// How often to check whether the work is done while the main run loop has no source to wait for.
const LOOK: Duration = Duration::from_millis(10);

/// How often to check whether the work is done, in seconds. The end of the work wakes the loop too.
const SLICE: f64 = 0.5;

thread_local! {
    /// The function to call on each turn of the main loop. Used on the main thread only.
    static EACH_TURN: Cell<Option<fn(MainThreadMarker)>> = const { Cell::new(None) };
}

/// Registers a function to be called on each turn of the main loop from now on.
pub(super) fn on_each_turn(does: fn(MainThreadMarker)) {
    EACH_TURN.set(Some(does));
}

/// Runs `work` on another thread, and the main run loop on this one until the work is done. Call it
/// on the main thread.
pub fn beside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let done = Arc::new(AtomicBool::new(false));
    let main = CFRunLoop::main();
    let finished = Arc::clone(&done);
    let worker = thread::Builder::new()
        .name("deskline".into())
        .spawn(move || {
            /// Ends the main loop, even if the work panics.
            struct End(Arc<AtomicBool>);
            impl Drop for End {
                fn drop(&mut self) {
                    self.0.store(true, Ordering::Release);
                    if let Some(main) = CFRunLoop::main() {
                        main.stop();
                    }
                }
            }
            let _end = End(finished);
            work()
        });
    let worker = worker.ok()?;
    // SAFETY: this is a constant of the framework, which is never written.
    let mode = unsafe { kCFRunLoopDefaultMode };
    while main.is_some() && !done.load(Ordering::Acquire) {
        if CFRunLoop::run_in_mode(mode, SLICE, false) == CFRunLoopRunResult::Finished {
            deskline_contract::wait::pause(LOOK);
        }
        if let (Some(marker), Some(does)) = (MainThreadMarker::new(), EACH_TURN.get()) {
            autoreleasepool(|_| does(marker));
        }
    }
    worker.join().ok()
}

/// Runs a closure on the main thread; `None` if the main loop is not running.
pub(super) fn on_main<T: Send + 'static>(
    work: impl FnOnce(MainThreadMarker) -> T + Send + 'static,
) -> Option<T> {
    if let Some(marker) = MainThreadMarker::new() {
        return Some(work(marker));
    }
    let (send, receive) = mpsc::channel();
    DispatchQueue::main().exec_async(move || {
        if let Some(marker) = MainThreadMarker::new() {
            // Without an `NSApplication`'s event loop, the main queue has no autorelease pool.
            let _ = send.send(autoreleasepool(|_| work(marker)));
        }
    });
    receive.recv_timeout(TAKES).ok()
}

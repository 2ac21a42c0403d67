//! Pictures of single windows, by `ScreenCaptureKit`, which takes still pictures since macOS 14.

use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use block2::RcBlock;
use objc2::rc::Retained;
use objc2::{AllocAnyThread, available};
use objc2_core_foundation::{CGPoint, CGRect, CGSize};
use objc2_core_graphics::{
    CGBitmapContextCreate, CGColorSpace, CGContext, CGImage, CGImageAlphaInfo,
    CGPreflightScreenCaptureAccess, CGRequestScreenCaptureAccess,
};
use objc2_foundation::{NSArray, NSError};
use objc2_screen_capture_kit::{
    SCContentFilter, SCDisplay, SCScreenshotManager, SCShareableContent, SCStreamConfiguration,
    SCWindow,
};

use super::screen::sides;
use crate::os::{Image, Shot};

pub(super) fn may_capture() -> bool {
    CGPreflightScreenCaptureAccess()
}

pub(super) fn ask_to_capture() {
    CGRequestScreenCaptureAccess();
}

type Taken = Result<Image, String>;

pub(super) fn capture(shot: &Shot, time: Duration) -> Taken {
    if !available!(macos = 14.0) {
        return Err("it needs macOS 14".into());
    }
    let (send, receive) = mpsc::channel();
    let (shot, on_screen) = (shot.clone(), shot.on_screen);
    let found = RcBlock::new(
        move |content: *mut SCShareableContent, error: *mut NSError| {
            // SAFETY: the system owns both during the call.
            match unsafe { content.as_ref() } {
                Some(content) => take(content, &shot, &send),
                None => drop(send.send(Err(why(error)))),
            }
        },
    );
    // SAFETY: the arguments are plain values and a block of the documented type, which the system
    // copies.
    unsafe {
        SCShareableContent::getShareableContentExcludingDesktopWindows_onScreenWindowsOnly_completionHandler(
            false, on_screen, &found,
        );
    }
    receive
        .recv_timeout(time)
        .unwrap_or_else(|_| Err("ScreenCaptureKit did not answer in time".into()))
}

fn why(error: *mut NSError) -> String {
    // SAFETY: the pointer is null, or the system owns the object during the call.
    let error = unsafe { error.as_ref() };
    error.map_or_else(
        || "ScreenCaptureKit gave neither a picture nor an error".into(),
        |e| e.localizedDescription().to_string(),
    )
}

fn take(content: &SCShareableContent, shot: &Shot, send: &Sender<Taken>) {
    // SAFETY: getters without arguments.
    let (all, displays): (Vec<Retained<SCWindow>>, Vec<Retained<SCDisplay>>) =
        unsafe { (content.windows().to_vec(), content.displays().to_vec()) };
    // SAFETY: as above.
    let numbered = |number: u32| all.iter().find(|w| unsafe { w.windowID() } == number);
    let Some(found) = numbered(shot.window) else {
        let _ = send.send(Err("ScreenCaptureKit does not list the window".into()));
        return;
    };
    let [x, y, width, height] = shot.bounds;
    // A picture of several windows is always a part of a display: use a display that contains the
    // whole of `shot.window`.
    let holds = |display: &&Retained<SCDisplay>| {
        // SAFETY: a getter without arguments.
        let [dx, dy, dw, dh] = sides(unsafe { display.frame() });
        x >= dx && y >= dy && x + width <= dx + dw && y + height <= dy + dh
    };
    let over = shot.over.iter().filter_map(|number| numbered(*number));
    let mut windows: Vec<&SCWindow> = over.map(|w| &**w).collect();
    let display = displays.iter().find(holds).filter(|_| !windows.is_empty());
    let answer = send.clone();
    let done = RcBlock::new(move |picture: *mut CGImage, error: *mut NSError| {
        // SAFETY: the pointer is null, or the system owns the object during the call.
        let taken = match unsafe { picture.as_ref() } {
            Some(picture) => pixels(picture),
            None => Err(why(error)),
        };
        let _ = answer.send(taken);
    });
    // SAFETY: the objects are of the documented types, the setters take plain values, and the
    // block is copied by the system.
    unsafe {
        let how = SCStreamConfiguration::new();
        let filter = match display {
            Some(display) => {
                windows.push(found);
                let [dx, dy, ..] = sides(display.frame());
                let origin = CGPoint::new(x - dx, y - dy);
                how.setSourceRect(CGRect::new(origin, CGSize::new(width, height)));
                SCContentFilter::initWithDisplay_includingWindows(
                    SCContentFilter::alloc(),
                    display,
                    &NSArray::from_slice(&windows),
                )
            }
            None => {
                SCContentFilter::initWithDesktopIndependentWindow(SCContentFilter::alloc(), found)
            }
        };
        how.setWidth(shot.pixels.0);
        how.setHeight(shot.pixels.1);
        how.setShowsCursor(false);
        how.setScalesToFit(true);
        how.setIgnoreShadowsSingleWindow(true);
        SCScreenshotManager::captureImageWithFilter_configuration_completionHandler(
            &filter,
            &how,
            Some(&done),
        );
    }
}

/// Draws the picture into memory with a known layout.
fn pixels(picture: &CGImage) -> Taken {
    let (width, height) = (
        CGImage::width(Some(picture)),
        CGImage::height(Some(picture)),
    );
    let mut rgbx = vec![0_u8; width * height * 4];
    let space = CGColorSpace::new_device_rgb();
    // SAFETY: the memory is `height` rows of `4 × width` bytes and outlives the context.
    let context = unsafe {
        CGBitmapContextCreate(
            rgbx.as_mut_ptr().cast(),
            width,
            height,
            8,
            width * 4,
            space.as_deref(),
            CGImageAlphaInfo::NoneSkipLast.0,
        )
    };
    let context = context.ok_or("CGBitmapContextCreate gave no context")?;
    let size = CGSize::new(width as f64, height as f64);
    let whole = CGRect::new(CGPoint::new(0.0, 0.0), size);
    CGContext::draw_image(Some(&context), whole, Some(picture));
    drop(context);
    Ok(Image {
        width,
        height,
        rgbx,
    })
}

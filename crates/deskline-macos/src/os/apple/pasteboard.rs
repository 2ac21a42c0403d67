//! The general pasteboard.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::{NSObject, NSObjectProtocol, ProtocolObject};
use objc2::{AnyThread, DefinedClass, define_class, msg_send};
use objc2_app_kit::{
    NSPasteboard, NSPasteboardContentsOptions, NSPasteboardItem, NSPasteboardItemDataProvider,
    NSPasteboardType, NSPasteboardTypeString, NSPasteboardWriting,
};
use objc2_foundation::{NSArray, NSData, NSString};

use super::main_thread::on_main;
use crate::os::{Asked, PasteboardItem};

/// A promised text.
struct Promise {
    text: String,
    asked: Asked,
}

define_class!(
    // SAFETY: `NSObject` has no requirements for subclasses, and this one has no `Drop`.
    #[unsafe(super(NSObject))]
    #[name = "DesklinePromisedText"]
    #[ivars = Promise]
    struct PromisedText;

    unsafe impl NSObjectProtocol for PromisedText {}

    // SAFETY: the method has the signature that the protocol declares.
    unsafe impl NSPasteboardItemDataProvider for PromisedText {
        #[unsafe(method(pasteboard:item:provideDataForType:))]
        fn provide(
            &self,
            _: Option<&NSPasteboard>,
            item: &NSPasteboardItem,
            kind: &NSPasteboardType,
        ) {
            let Promise { text, asked } = self.ivars();
            item.setString_forType(&NSString::from_str(text), kind);
            asked();
        }
    }
);

impl PromisedText {
    fn new(promise: Promise) -> Retained<Self> {
        let this = Self::alloc().set_ivars(promise);
        // SAFETY: the superclass's own initialiser.
        unsafe { msg_send![super(this), init] }
    }
}

pub(super) fn pasteboard_changes() -> i64 {
    NSPasteboard::generalPasteboard().changeCount() as i64
}

fn items() -> Vec<Retained<NSPasteboardItem>> {
    let items = NSPasteboard::generalPasteboard().pasteboardItems();
    items.map(|items| items.to_vec()).unwrap_or_default()
}

pub(super) fn pasteboard_types() -> Vec<Vec<String>> {
    let types = |item: Retained<NSPasteboardItem>| {
        let types = item.types().to_vec();
        types.iter().map(ToString::to_string).collect()
    };
    items().into_iter().map(types).collect()
}

pub(super) fn pasteboard_data(
    item: usize,
    kind: &str,
    time: Duration,
) -> Result<Option<Vec<u8>>, String> {
    let (send, receive) = mpsc::channel();
    let kind = kind.to_owned();
    // The call has no time limit of its own.
    thread::spawn(move || {
        let data = autoreleasepool(|_| {
            let data = items().get(item)?.dataForType(&NSString::from_str(&kind));
            data.map(|data| data.to_vec())
        });
        let _ = send.send(data);
    });
    receive.recv_timeout(time).map_err(|e| e.to_string())
}

/// Replaces the content of the pasteboard on this Mac only: the person's other devices do not get
/// the new content.
fn replace(items: &[Retained<NSPasteboardItem>]) -> Result<i64, String> {
    let pasteboard = NSPasteboard::generalPasteboard();
    pasteboard.prepareForNewContentsWithOptions(NSPasteboardContentsOptions::CurrentHostOnly);
    let writing = items.iter();
    let writing = writing.map(|item| ProtocolObject::<dyn NSPasteboardWriting>::from_ref(&**item));
    let writing: Vec<_> = writing.collect();
    if !writing.is_empty() && !pasteboard.writeObjects(&NSArray::from_slice(&writing)) {
        return Err("the pasteboard takes no items".into());
    }
    Ok(pasteboard.changeCount() as i64)
}

pub(super) fn pasteboard_write(items: Vec<PasteboardItem>) -> Result<i64, String> {
    let made = items.into_iter().map(|item| {
        let made = NSPasteboardItem::new();
        for (kind, data) in item {
            made.setData_forType(&NSData::from_vec(data), &NSString::from_str(&kind));
        }
        made
    });
    replace(&made.collect::<Vec<_>>())
}

pub(super) fn pasteboard_promise(
    text: &str,
    marks: &[&'static str],
    asked: Asked,
) -> Result<i64, String> {
    let text = text.to_owned();
    let marks = marks.to_vec();
    // Apps that read the text are answered on the main thread.
    let done = on_main(move |_| {
        let item = NSPasteboardItem::new();
        for mark in marks {
            item.setData_forType(&NSData::with_bytes(&[]), &NSString::from_str(mark));
        }
        let promised = PromisedText::new(Promise { text, asked });
        // SAFETY: this is a constant of the framework, which is never written.
        let kind = unsafe { NSPasteboardTypeString };
        let provider = ProtocolObject::from_ref(&*promised);
        if !item.setDataProvider_forTypes(provider, &NSArray::from_slice(&[kind])) {
            return Err("the pasteboard takes no promise".into());
        }
        replace(&[item])
    });
    done.unwrap_or_else(|| Err("the main thread does not answer".into()))
}

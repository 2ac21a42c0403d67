//! A device that the compositor offers.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;

use reis::{Object, ei};

/// The longest keymap that is read: those of several layouts have 80 kB.
const LONGEST: u32 = 4 << 20;

/// A part of the screen that an absolute pointer reaches, in the compositor's logical pixels.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Region {
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Whose it is, such as a stream of the screen cast; `None` for the screen.
    pub(crate) mapping: Option<String>,
}

/// A device. Only one that is resumed takes input.
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) proto: ei::Device,
    pub(crate) name: String,
    pub(crate) regions: Vec<Region>,
    /// The mapping of the next region.
    next: Option<String>,
    pub(crate) absolute: Option<ei::PointerAbsolute>,
    pub(crate) relative: Option<ei::Pointer>,
    pub(crate) button: Option<ei::Button>,
    pub(crate) scroll: Option<ei::Scroll>,
    pub(crate) keyboard: Option<ei::Keyboard>,
    /// The keymap of its keyboard, in XKB's text form.
    pub(crate) keymap: Option<Vec<u8>>,
    /// The modifiers that are locked, such as Caps Lock, and the group of the layout.
    pub(crate) locked: (u32, u32),
    /// Whether it is resumed, and may be used.
    pub(crate) resumed: bool,
}

impl Device {
    pub(super) fn new(proto: ei::Device) -> Self {
        Self {
            proto,
            name: String::new(),
            regions: Vec::new(),
            next: None,
            absolute: None,
            relative: None,
            button: None,
            scroll: None,
            keyboard: None,
            keymap: None,
            locked: (0, 0),
            resumed: false,
        }
    }

    /// `sends`: whether the connection is a sender's.
    pub(super) fn hear(&mut self, event: ei::device::Event, sends: bool) {
        use ei::device::Event;
        match event {
            Event::Name { name } => self.name = name,
            Event::RegionMappingId { mapping_id } => self.next = Some(mapping_id),
            Event::Region {
                offset_x,
                offset_y,
                width,
                hight,
                ..
            } => {
                let mapping = self.next.take();
                self.regions.push(Region {
                    x: offset_x,
                    y: offset_y,
                    width,
                    height: hight,
                    mapping,
                });
            }
            Event::Interface { object } => self.offers(object),
            // From version 3 on the compositor resumes no sender's device before this.
            Event::Done if sends && self.proto.version() >= 3 => self.proto.ready(),
            Event::Resumed { .. } => self.resumed = true,
            Event::Paused { .. } => self.resumed = false,
            _ => {}
        }
    }

    fn offers(&mut self, object: Object) {
        match object.interface() {
            "ei_pointer_absolute" => self.absolute = object.downcast(),
            "ei_pointer" => self.relative = object.downcast(),
            "ei_button" => self.button = object.downcast(),
            "ei_scroll" => self.scroll = object.downcast(),
            "ei_keyboard" => self.keyboard = object.downcast(),
            _ => {}
        }
    }

    /// Reads the keymap of its keyboard. One that cannot be read counts as none.
    pub(super) fn read_keymap(&mut self, fd: OwnedFd, size: u32) {
        let mut text = vec![0; size.min(LONGEST) as usize];
        let read = File::from(fd).read_exact_at(&mut text, 0);
        self.keymap = read.is_ok().then_some(text);
    }

    /// Whether its pointer reaches the part of the screen with this mapping.
    pub(super) fn reaches(&self, mapping: Option<&str>) -> bool {
        let mut regions = self.regions.iter();
        let is = |region: &Region| region.mapping.as_deref() == mapping;
        self.absolute.is_some() && (regions.any(is) || mapping.is_none() && self.regions.is_empty())
    }
}

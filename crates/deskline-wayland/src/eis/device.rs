//! A device that the compositor offers.

use reis::{Object, ei};

/// A part of the screen that an absolute pointer reaches, in the compositor's logical pixels.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Region {
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// The mapping id: the id of a screen cast's stream or, in KWin 6.7, a screen's name.
    pub(crate) mapping: Option<String>,
}

impl Region {
    /// Whether the region belongs to the stream with this mapping. If `mapping` is `None`, every
    /// region does, because a session that uses screen coordinates has no streams.
    fn is_of(&self, mapping: Option<&str>) -> bool {
        mapping.is_none() || self.mapping.as_deref() == mapping
    }

    /// The distance of a point from the region; 0 inside.
    fn distance(&self, x: f64, y: f64) -> f64 {
        let outside = |at: f64, start: u32, length: u32| {
            let (start, end) = (f64::from(start), f64::from(start) + f64::from(length));
            (start - at).max(at - end).max(0.0)
        };
        outside(x, self.x, self.width).hypot(outside(y, self.y, self.height))
    }
}

/// A device. It accepts input only while it is resumed.
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
    /// The keyboard's keymap, in XKB's text form.
    pub(crate) keymap: Option<Vec<u8>>,
    /// The locked modifiers, such as Caps Lock, and the active group of the layout.
    pub(crate) locked: (u32, u32),
    pub(crate) resumed: bool,
    /// Whether `start_emulating` was sent since the last pause.
    pub(crate) emulating: bool,
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
            emulating: false,
        }
    }

    /// Handles an event of this device. `sends` says whether the connection is a sender's.
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
            // From version 3 on, the compositor resumes a sender's device only after this request.
            Event::Done if sends && self.proto.version() >= 3 => self.proto.ready(),
            Event::Resumed { .. } => self.resumed = true,
            Event::Paused { .. } => (self.resumed, self.emulating) = (false, false),
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

    /// The distance of a point from the nearest region of this mapping that does not contain the
    /// point. `None` if all regions of the mapping contain the point.
    pub(super) fn to_the_next_region(
        &self,
        mapping: Option<&str>,
        (x, y): (f64, f64),
    ) -> Option<f64> {
        let regions = self.regions.iter();
        let others = regions.filter(|region| region.is_of(mapping));
        let distances = others.map(|region| region.distance(x, y));
        distances.filter(|far| *far > 0.0).min_by(f64::total_cmp)
    }

    /// Whether the device's pointer reaches the part of the screen with this mapping.
    pub(super) fn reaches(&self, mapping: Option<&str>) -> bool {
        let mut regions = self.regions.iter();
        let any = regions.any(|region| region.is_of(mapping));
        self.absolute.is_some() && (any || mapping.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_to_a_screen_is_measured_to_its_nearest_point() {
        let screen = Region {
            x: 2400,
            y: 100,
            width: 1600,
            height: 900,
            mapping: None,
        };
        let far = [
            (2390.0, 500.0),
            (2396.0, 97.0),
            (2500.0, 1010.0),
            (3000.0, 300.0),
        ];
        let far = far.map(|(x, y)| screen.distance(x, y).to_string());
        assert_eq!(far, ["10", "5", "10", "0"]);
    }
}

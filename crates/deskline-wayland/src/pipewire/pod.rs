//! PipeWire's values in their binary form (SPA pods), as far as a video stream needs them. Integers
//! have the machine's byte order; each value is padded to 8 bytes.

const ID: u32 = 3;
const INT: u32 = 4;
const RECTANGLE: u32 = 10;
const OBJECT: u32 = 15;
const CHOICE: u32 = 19;

/// `enum spa_type`: the types of objects.
const FORMAT: u32 = 0x40003;
const BUFFERS: u32 = 0x40004;
const META: u32 = 0x40005;

/// `enum spa_param_type`
const ENUM_FORMAT: u32 = 3;
pub(super) const PARAM_FORMAT: u32 = 4;
const PARAM_BUFFERS: u32 = 5;
const PARAM_META: u32 = 6;

/// `enum spa_format`
const MEDIA_TYPE: u32 = 1;
const MEDIA_SUBTYPE: u32 = 2;
const VIDEO_FORMAT: u32 = 0x20001;
const VIDEO_SIZE: u32 = 0x20003;
const VIDEO: u32 = 2;
const RAW: u32 = 1;

/// `enum spa_video_format`: four bytes per pixel, blue first, without and with alpha.
const BGRX: u32 = 8;
const BGRA: u32 = 12;

/// `enum spa_param_buffers`, and the data types for memory as a pointer or as a file.
const DATA_TYPE: u32 = 6;
const IN_MEMORY: u32 = 1 << 1 | 1 << 2;

/// `enum spa_param_meta`, `enum spa_meta_type`, `struct spa_meta_region`
const META_TYPE: u32 = 1;
const META_SIZE: u32 = 2;
pub(super) const CROP: u32 = 2;
pub(super) const CROP_SIZE: u32 = 16;

/// The negotiated format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Format {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) alpha: bool,
}

fn value(kind: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = (body.len() as u32).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(body);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

fn number(kind: u32, number: u32) -> Vec<u8> {
    value(kind, &number.to_ne_bytes())
}

/// A choice of several ids, the preferred one first.
fn one_of(ids: &[u32]) -> Vec<u8> {
    // An enumeration: its kind, flags (none), the size and kind of its values, the default, and all
    // values.
    let head = [3, 0, 4, ID, ids[0]];
    let words = head.iter().chain(ids);
    value(
        CHOICE,
        &words.flat_map(|w| w.to_ne_bytes()).collect::<Vec<_>>(),
    )
}

fn object(kind: u32, id: u32, properties: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut body: Vec<u8> = [kind, id].iter().flat_map(|w| w.to_ne_bytes()).collect();
    for (key, value) in properties {
        body.extend([*key, 0].iter().flat_map(|w| w.to_ne_bytes()));
        body.extend(value);
    }
    value(OBJECT, &body)
}

/// The supported formats.
pub(super) fn formats() -> Vec<u8> {
    let properties = [
        (MEDIA_TYPE, number(ID, VIDEO)),
        (MEDIA_SUBTYPE, number(ID, RAW)),
        (VIDEO_FORMAT, one_of(&[BGRA, BGRX])),
    ];
    object(FORMAT, ENUM_FORMAT, &properties)
}

/// Requests frames in memory, each with its crop rectangle.
pub(super) fn wishes() -> [Vec<u8>; 2] {
    let crop = [
        (META_TYPE, number(ID, CROP)),
        (META_SIZE, number(INT, CROP_SIZE)),
    ];
    let memory = [(DATA_TYPE, number(INT, IN_MEMORY))];
    [
        object(META, PARAM_META, &crop),
        object(BUFFERS, PARAM_BUFFERS, &memory),
    ]
}

/// Parses the negotiated format.
pub(super) fn format(pod: &[u8]) -> Option<Format> {
    let word = |at: usize| {
        let bytes = pod.get(at..at + 4)?;
        Some(u32::from_ne_bytes(bytes.try_into().ok()?))
    };
    let (mut kind, mut size) = (None, None);
    // After the object's own header come properties: key, flags, size, kind, body.
    let mut at = 16;
    while let (Some(key), Some(length), Some(of)) = (word(at), word(at + 8), word(at + 12)) {
        // A value may be a choice of one: the choice's kind, flags, the value's size and kind, then
        // the value.
        let (of, value) = match of {
            CHOICE => (word(at + 28)?, at + 32),
            of => (of, at + 16),
        };
        match (key, of) {
            (VIDEO_FORMAT, ID) => kind = word(value),
            (VIDEO_SIZE, RECTANGLE) => size = word(value).zip(word(value + 4)),
            _ => {}
        }
        at += 16 + (length as usize).next_multiple_of(8);
    }
    let (width, height) = size?;
    let alpha = match kind? {
        BGRA => true,
        BGRX => false,
        _ => return None,
    };
    Some(Format {
        width,
        height,
        alpha,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_read_back() {
        let size: Vec<u8> = [472_u32, 349]
            .iter()
            .flat_map(|w| w.to_ne_bytes())
            .collect();
        let properties = [
            (MEDIA_TYPE, number(ID, VIDEO)),
            (VIDEO_FORMAT, one_of(&[BGRA])),
            (VIDEO_SIZE, value(RECTANGLE, &size)),
        ];
        let pod = object(FORMAT, PARAM_FORMAT, &properties);
        let read = Format {
            width: 472,
            height: 349,
            alpha: true,
        };
        assert_eq!(format(&pod), Some(read));
        for end in 0..pod.len() {
            assert!(format(&pod[..end]).is_none_or(|f| f == read), "{end}");
        }
        let other = object(FORMAT, PARAM_FORMAT, &[(VIDEO_FORMAT, number(ID, 2))]);
        assert_eq!(format(&other), None);
    }

    #[test]
    fn fuzz_any_bytes_are_a_format_or_none() {
        let size: Vec<u8> = [640_u32, 480]
            .iter()
            .flat_map(|w| w.to_ne_bytes())
            .collect();
        let properties = [
            (VIDEO_SIZE, value(RECTANGLE, &size)),
            (VIDEO_FORMAT, number(ID, BGRX)),
        ];
        let corpus = [
            object(FORMAT, PARAM_FORMAT, &properties),
            formats(),
            wishes()[0].clone(),
            wishes()[1].clone(),
        ];
        deskline_fuzz::fuzz("PipeWire's pods", &corpus, |pod| _ = format(pod));
    }

    #[test]
    fn every_value_is_padded_to_8_bytes() {
        assert!(
            [formats(), wishes()[0].clone(), wishes()[1].clone()]
                .iter()
                .all(|pod| pod.len() % 8 == 0)
        );
        assert_eq!(formats()[..4], (formats().len() as u32 - 8).to_ne_bytes());
    }
}

//! Marshals the bodies of calls and unmarshals the bodies of replies.

/// The maximum length of an array, in bytes: the specification's limit, 64 MiB.
const LIMIT: usize = 64 << 20;

/// Bytes that do not match their signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("malformed D-Bus data")]
pub struct WireError;

type Result<T> = std::result::Result<T, WireError>;

pub(super) fn pad(bytes: &mut Vec<u8>, to: usize) {
    bytes.resize(bytes.len().next_multiple_of(to), 0);
}

pub(super) fn put_string(bytes: &mut Vec<u8>, s: &str) {
    pad(bytes, 4);
    bytes.extend((s.len() as u32).to_le_bytes());
    bytes.extend(s.as_bytes());
    bytes.push(0);
}

/// The arguments of a call, with their signature.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Body {
    pub(super) signature: String,
    pub(super) bytes: Vec<u8>,
    /// Whether a string has a NUL, which D-Bus cannot carry.
    pub(super) has_nul: bool,
}

impl Body {
    /// No arguments.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a string (`s`).
    pub fn str(mut self, s: &str) -> Self {
        self.signature.push('s');
        self.has_nul |= s.contains('\0');
        put_string(&mut self.bytes, s);
        self
    }

    /// Adds `head` without alignment, and then `value`, aligned to its own size.
    fn put(mut self, signature: char, head: &[u8], value: &[u8]) -> Self {
        self.signature.push(signature);
        self.bytes.extend(head);
        pad(&mut self.bytes, value.len());
        self.bytes.extend(value);
        self
    }

    /// Adds an unsigned integer (`u`).
    pub fn u32(self, v: u32) -> Self {
        self.put('u', &[], &v.to_le_bytes())
    }

    /// Adds an integer (`i`).
    pub fn i32(self, v: i32) -> Self {
        self.put('i', &[], &v.to_le_bytes())
    }

    /// Adds an array of strings (`as`).
    pub fn strs(mut self, all: &[&str]) -> Self {
        self.signature.push_str("as");
        pad(&mut self.bytes, 4);
        let at = self.bytes.len();
        self.bytes.extend([0; 4]);
        for s in all {
            put_string(&mut self.bytes, s);
        }
        let len = (self.bytes.len() - at - 4) as u32;
        self.bytes[at..at + 4].copy_from_slice(&len.to_le_bytes());
        self
    }

    /// Adds a dictionary without entries (`a{sv}`), such as the platform data of an activation.
    pub fn empty_dict(mut self) -> Self {
        self.signature.push_str("a{sv}");
        pad(&mut self.bytes, 4);
        self.bytes.extend([0; 4]);
        // The padding before the first entry is not a part of the array's length.
        pad(&mut self.bytes, 8);
        self
    }

    /// Adds a match rule of `org.a11y.atspi.Collection` without conditions (`(aiia{ss}iaiiasib)`).
    pub(crate) fn no_conditions(mut self) -> Self {
        self.signature.push_str("(aiia{ss}iaiiasib)");
        pad(&mut self.bytes, 8);
        // Empty arrays, padding, zeros and `false` are all zero bytes.
        self.bytes.extend([0; 40]);
        self
    }

    /// Adds a boolean in a variant (`v`).
    pub fn variant_bool(self, v: bool) -> Self {
        self.put('v', b"\x01b\0", &u32::from(v).to_le_bytes())
    }

    /// Adds a double in a variant (`v`).
    pub(crate) fn variant_f64(self, v: f64) -> Self {
        self.put('v', b"\x01d\0", &v.to_le_bytes())
    }
}

/// The longest accepted object path, in bytes. Toolkits' paths have about 60 bytes.
const LONGEST_PATH: usize = 4 << 10;

/// Reads a body. Every read is bounds-checked. It never panics, whatever the bytes.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    big_endian: bool,
}

impl<'a> Reader<'a> {
    /// Reads `bytes` from the offset `at` on. `bytes` must be a whole message or a whole body,
    /// because alignment counts from its first byte.
    pub(super) fn at(bytes: &'a [u8], at: usize, big_endian: bool) -> Self {
        Self {
            bytes,
            at,
            big_endian,
        }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(n).ok_or(WireError)?;
        let part = self.bytes.get(self.at..end).ok_or(WireError)?;
        self.at = end;
        Ok(part)
    }

    /// Skips padding.
    pub fn align(&mut self, to: usize) -> Result<()> {
        self.at = self.at.checked_next_multiple_of(to).ok_or(WireError)?;
        if self.at > self.bytes.len() {
            Err(WireError)
        } else {
            Ok(())
        }
    }

    /// The bytes of a number, least significant first.
    fn number<const SIZE: usize>(&mut self) -> Result<[u8; SIZE]> {
        self.align(SIZE)?;
        let mut bytes: [u8; SIZE] = self.take(SIZE)?.try_into().map_err(|_| WireError)?;
        if self.big_endian {
            bytes.reverse();
        }
        Ok(bytes)
    }

    /// Reads the D-Bus type `y`.
    pub fn u8(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    /// Reads the D-Bus type `u`, or `b` as 0 or 1.
    pub fn u32(&mut self) -> Result<u32> {
        self.number().map(u32::from_le_bytes)
    }

    /// Reads the D-Bus type `i`.
    pub fn i32(&mut self) -> Result<i32> {
        self.u32().map(u32::cast_signed)
    }

    /// Reads the D-Bus type `d`.
    pub fn f64(&mut self) -> Result<f64> {
        self.number().map(f64::from_le_bytes)
    }

    /// Reads the D-Bus type `s` or `o`.
    pub fn str(&mut self) -> Result<&'a str> {
        let len = self.u32()? as usize;
        let text = self.take(len)?;
        self.take(1)?;
        std::str::from_utf8(text).map_err(|_| WireError)
    }

    /// Reads the D-Bus type `g`.
    pub fn signature(&mut self) -> Result<&'a str> {
        let len = self.u8()? as usize;
        let text = self.take(len)?;
        self.take(1)?;
        std::str::from_utf8(text).map_err(|_| WireError)
    }

    /// Reads `(so)`: an AT-SPI object reference.
    pub fn object(&mut self) -> Result<(&'a str, &'a str)> {
        self.align(8)?;
        let object = (self.str()?, self.str()?);
        match object.1.len() {
            0..=LONGEST_PATH => Ok(object),
            _ => Err(WireError),
        }
    }

    /// Reads an array whose elements have the alignment `align`. `each` reads one element.
    pub fn array<T>(
        &mut self,
        align: usize,
        mut each: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let len = self.u32()? as usize;
        if len > LIMIT {
            return Err(WireError);
        }
        self.align(align)?;
        let end = self.at.checked_add(len);
        let end = end
            .filter(|end| *end <= self.bytes.len())
            .ok_or(WireError)?;
        let mut all = Vec::new();
        while self.at < end {
            let before = self.at;
            all.push(each(self)?);
            if self.at == before || self.at > end {
                return Err(WireError);
            }
        }
        Ok(all)
    }

    /// A variant that holds a string or an object path. Anything else is an error.
    pub(crate) fn variant_str(&mut self) -> Result<&'a str> {
        match self.signature()? {
            "s" | "o" => self.str(),
            _ => Err(WireError),
        }
    }

    /// A variant that holds an integer.
    pub fn variant_i32(&mut self) -> Result<i32> {
        match self.signature()? {
            "i" | "u" | "b" => self.i32(),
            _ => Err(WireError),
        }
    }

    /// A variant that holds a number.
    pub(crate) fn variant_f64(&mut self) -> Result<f64> {
        match self.signature()? {
            "d" => self.f64(),
            "i" => self.i32().map(f64::from),
            _ => Err(WireError),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_body_is_read_back_unchanged() {
        let body = Body::new()
            .str("hé")
            .i32(-3)
            .u32(7)
            .strs(&["a", "bc"])
            .variant_f64(1.5);
        assert_eq!(body.signature, "siuasv");
        let mut r = Reader::at(&body.bytes, 0, false);
        assert_eq!(r.str(), Ok("hé"));
        assert_eq!(r.i32(), Ok(-3));
        assert_eq!(r.u32(), Ok(7));
        assert_eq!(r.array(4, super::Reader::str), Ok(vec!["a", "bc"]));
        assert_eq!(r.variant_f64(), Ok(1.5));
        assert_eq!(r.u8(), Err(WireError));
    }

    #[test]
    fn no_bytes_can_make_a_reader_panic() {
        // Every prefix of a real body, with each single byte changed, must read or fail but not
        // panic.
        let body = Body::new().strs(&["abc", "d"]).str("k").variant_f64(1.5);
        for cut in 0..=body.bytes.len() {
            for at in 0..body.bytes.len() {
                for value in [0, 1, 0x7f, 0xff] {
                    let mut bytes = body.bytes.clone();
                    bytes[at] = value;
                    bytes.truncate(cut);
                    let mut r = Reader::at(&bytes, 0, false);
                    let _ = r.array(4, super::Reader::str);
                    let _ = r.array(8, |r| {
                        r.align(8)?;
                        Ok((r.str()?.to_owned(), r.variant_str()?.to_owned()))
                    });
                }
            }
        }
    }
}

//! Encodes Base64 with padding (RFC 4648 §4), for pictures in MCP and in pages.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = (0..3).fold(0_u32, |group, i| {
            (group << 8) | u32::from(chunk.get(i).copied().unwrap_or(0))
        });
        for i in 0..4 {
            if i > chunk.len() {
                text.push('=');
            } else {
                // Six bits are an index into 64.
                text.push(char::from(ALPHABET[(group >> (18 - 6 * i)) as usize & 63]));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::encode;

    /// The test vectors of RFC 4648 §10, and both ends of the alphabet.
    #[test]
    fn vectors() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (b"foob", "Zm9vYg=="),
            (b"fooba", "Zm9vYmE="),
            (b"foobar", "Zm9vYmFy"),
            (b"\xff\xff\xff\x00\x00\x00\xfb\xf0", "////AAAA+/A="),
        ] {
            assert_eq!(encode(bytes), text);
        }
    }
}

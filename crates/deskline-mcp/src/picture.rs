//! `view_screenshot`: shows a picture of the journal to clients that cannot read files.

use std::io::Cursor;

use deskline_journal::Place;
use png::{BitDepth, ColorType, Decoder, DecodingError, Encoder, Limits, Transformations};

use crate::args::Wrong;
use crate::files::JournalFiles;
use crate::reply::Reply;
use crate::scale::Rgb;

/// Models see pictures of up to this long side at full sharpness, in pixels.
const LONG_SIDE: usize = 1_568;
/// The maximum size of a decoded picture in bytes: 16k × 8k pixels.
const LARGEST: usize = 400 << 20;
/// Shows a picture of the journal, shrunk.
pub(crate) fn shown(files: &JournalFiles, file: Option<&str>) -> Result<Reply, Wrong> {
    let (path, png) = files.picture(file)?;
    let picture = decode(&png)
        .map_err(|error| format!("{} cannot be shown: {error}. Take another", path.display()))?;
    let small = picture.shrunk(LONG_SIDE);
    let line = describe(&png, small.as_ref().unwrap_or(&picture));
    let small = small.map(|small| encode(&small)).transpose();
    let small = small.map_err(|error| format!("cannot make a screenshot: {error}"))?;
    Ok(Reply {
        png: Some(small.unwrap_or(png)),
        ..Reply::text(format!("{}: {line}", path.display()))
    })
}

/// The line beside the picture: its size, scale (its pixels per screen unit) and origin. An agent
/// computes screen x = origin x + pixel x / scale.
fn describe(png: &[u8], shown: &Rgb) -> String {
    let Rgb { width, height, .. } = shown;
    let place = Place::from_png(png);
    let scale = place.map_or(1.0, |place| {
        place.scale * *width as f64 / f64::from(place.width)
    });
    let origin = place.and_then(|place| place.origin);
    let origin = origin.map_or_else(String::new, |at| format!(", origin {},{}", at.x, at.y));
    format!("{width}×{height} px, scale {scale:.3}{origin}")
}

fn decode(png: &[u8]) -> Result<Rgb, DecodingError> {
    let mut decoder = Decoder::new_with_limits(Cursor::new(png), Limits { bytes: LARGEST });
    decoder.set_transformations(Transformations::EXPAND | Transformations::STRIP_16);
    let mut reader = decoder.read_info()?;
    let size = reader
        .output_buffer_size()
        .filter(|size| *size <= LARGEST)
        .ok_or(DecodingError::LimitsExceeded)?;
    let mut bytes = vec![0; size];
    let frame = reader.next_frame(&mut bytes)?;
    bytes.truncate(frame.buffer_size());
    let bytes = match frame.color_type {
        ColorType::Rgb => bytes,
        ColorType::Rgba => bytes
            .chunks_exact(4)
            .flat_map(|pixel| pixel.iter().take(3).copied())
            .collect(),
        // The journal writes RGB.
        _ => return Err(DecodingError::LimitsExceeded),
    };
    Ok(Rgb {
        width: frame.width as usize,
        height: frame.height as usize,
        bytes,
    })
}

fn encode(rgb: &Rgb) -> Result<Vec<u8>, png::EncodingError> {
    let mut png = Vec::new();
    let (width, height) = (rgb.width as u32, rgb.height as u32);
    let mut encoder = Encoder::new(&mut png, width, height);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&rgb.bytes)?;
    writer.finish()?;
    Ok(png)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grey(width: usize, height: usize) -> Rgb {
        Rgb {
            width,
            height,
            bytes: vec![9; 3 * width * height],
        }
    }

    #[test]
    fn a_picture_survives_png() {
        let png = encode(&grey(3, 2)).unwrap();
        assert_eq!(decode(&png).unwrap(), grey(3, 2));
        assert_eq!(describe(&png, &grey(3, 2)), "3×2 px, scale 1.000");
    }

    #[test]
    fn position_and_scale_come_from_text_chunks() {
        let mut png = Vec::new();
        let mut encoder = Encoder::new(&mut png, 2000, 1);
        encoder.set_color(ColorType::Rgb);
        encoder
            .add_text_chunk("origin".into(), "-40,60".into())
            .unwrap();
        encoder.add_text_chunk("scale".into(), "2".into()).unwrap();
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&[0; 6000]).unwrap();
        writer.finish().unwrap();
        assert_eq!(
            describe(&png, &grey(1000, 1)),
            "1000×1 px, scale 1.000, origin -40,60"
        );
    }

    #[test]
    fn a_file_that_is_no_picture_is_an_error() {
        for bytes in [&b""[..], b"hello", &encode(&grey(9, 9)).unwrap()[..40]] {
            assert!(decode(bytes).is_err());
        }
    }
}

//! `view_screenshot`: shows a picture of the journal to clients that cannot read files.

use deskline_journal::{Place, Shot, encode, pixels};

use crate::args::Wrong;
use crate::files::JournalFiles;
use crate::reply::Reply;
use crate::scale::Rgb;

/// The longest side, in pixels, up to which models see a picture at full sharpness.
const LONG_SIDE: usize = 1_568;

/// Shows a picture of the journal, shrunk.
pub(crate) fn shown(files: &JournalFiles, file: Option<&str>) -> Result<Reply, Wrong> {
    let (path, png) = files.picture(file)?;
    let broken = || {
        let path = path.display();
        format!("{path} cannot be shown, because it is no PNG of the log. Take another screenshot")
    };
    let (place, bytes) = pixels(&png).ok_or_else(broken)?;
    let (width, height) = (place.width as usize, place.height as usize);
    let picture = Rgb {
        width,
        height,
        bytes,
    };
    let small = picture.shrunk(LONG_SIDE);
    let line = describe(place, small.as_ref().unwrap_or(&picture));
    let encoded = small.map(|small| {
        let (width, height) = (small.width as u32, small.height as u32);
        encode(&Shot::new(width, height, &small.bytes)).map_err(|error| error.to_string())
    });
    Ok(Reply {
        png: Some(encoded.transpose()?.unwrap_or(png)),
        ..Reply::text(format!("{}: {line}", path.display()))
    })
}

/// The line beside the picture: its size, scale (its pixels per screen unit) and origin. An agent
/// computes screen x = origin x + pixel x / scale.
fn describe(place: Place, shown: &Rgb) -> String {
    let Rgb { width, height, .. } = shown;
    let scale = place.scale * *width as f64 / f64::from(place.width);
    let origin = place.origin;
    let origin = origin.map_or_else(String::new, |at| format!(", origin {},{}", at.x, at.y));
    format!("{width}×{height} px, scale {scale:.3}{origin}")
}

#[cfg(test)]
mod tests {
    use deskline_core::Point;

    use super::*;

    #[test]
    fn a_picture_is_described_with_the_files_position_and_scale() {
        let mut shot = Shot::new(2000, 1, &[0; 6000]);
        (shot.origin, shot.scale) = (Point::at(-40, 60), 2.0);
        let (place, bytes) = pixels(&encode(&shot).unwrap()).unwrap();
        assert_eq!(bytes.len(), 6000);
        let shown = Rgb {
            width: 1000,
            height: 1,
            bytes: vec![],
        };
        assert_eq!(
            describe(place, &shown),
            "1000×1 px, scale 1.000, origin -40,60"
        );
    }
}

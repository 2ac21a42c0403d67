//! Pictures of a part of an output.

use deskline_contract::{Display as _, Screen as _};
use deskline_input::{Cancel, Click};
use wayland_server::protocol::wl_shm::Format;

use super::server::Options;
use super::{Bed, TARGET, at, id};

/// Compares the target's picture with the compositor's pixels.
fn is_right(options: Options) {
    let mut bed = Bed::new(options);
    bed.raise();
    // The display learns the window's position by a click.
    let pointer = bed.display.pointer_input().expect("a pointer");
    pointer
        .click(Click::left(at(5, 5)), &mut || None, &Cancel::new())
        .expect("a click");
    let pictures = bed.display.pictures().expect("pictures");
    let picture = pictures.picture(id(TARGET)).expect("a picture");
    assert_eq!((picture.width, picture.height), (300, 200));
    let wrong = bed.server.with(move |state| {
        let corner = state.desktop.windows[TARGET].place;
        let mut pixels = (0..).zip(picture.rgb.chunks_exact(3));
        pixels
            .find(|(n, rgb)| {
                let there = at(corner.x + n % 300, corner.y + n / 300);
                let [_, wanted @ ..] = state.desktop.colour(there).to_be_bytes();
                *rgb != wanted
            })
            .map(|(n, rgb)| (n, rgb.to_vec()))
    });
    assert_eq!(wrong, None);
}

#[test]
fn rows_padding_and_colours_are_read_right() {
    is_right(Options::default());
}

#[test]
fn a_picture_whose_pixels_begin_with_red_is_read_right() {
    is_right(Options {
        format: Format::Xbgr8888,
        ..Options::default()
    });
}

#[test]
fn a_picture_that_begins_with_its_last_row_is_read_right() {
    is_right(Options {
        upside_down: true,
        ..Options::default()
    });
}

#[test]
fn a_picture_that_is_refused_sends_nothing() {
    let mut bed = Bed::new(Options {
        refuses_pictures: true,
        ..Options::default()
    });
    bed.raise();
    let pointer = bed.display.pointer_input().expect("a pointer");
    pointer
        .click(Click::left(at(5, 5)), &mut || None, &Cancel::new())
        .expect_err("no place is known");
    bed.display.release_all();
    let target = bed.target();
    assert!(
        target.buttons.is_empty() && target.restored.is_none(),
        "{target:?}"
    );
    assert!(bed.display.front().expect("the front window").is_some());
}

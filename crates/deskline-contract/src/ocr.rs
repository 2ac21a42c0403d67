//! The interface of an OCR engine, which reads texts from pictures.

use std::time::Duration;

/// The picture of a line of text: dark on white, 8-bit grey rows without padding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Print {
    /// Pixels per row.
    pub width: u32,
    /// The number of rows.
    pub height: u32,
    /// `width × height` bytes.
    pub grey: Vec<u8>,
}

pub trait Ocr: Send + Sync {
    /// Reads lines of text until the time limit. Passes each line's index and text to `found` as
    /// soon as the line is read. The text is empty if the picture of the line shows none. Called on
    /// a thread of its own.
    ///
    /// # Errors
    /// Why the engine did not run, as a clause.
    fn read(
        &self,
        lines: &[Print],
        limit: Duration,
        found: &(dyn Fn(usize, String) + Sync),
    ) -> Result<(), String>;
}

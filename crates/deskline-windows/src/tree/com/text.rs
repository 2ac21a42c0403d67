//! The visible text of an element.

use windows::Win32::UI::Accessibility::{
    IUIAutomationElement, IUIAutomationTextPattern, IUIAutomationTextRange,
    TextPatternRangeEndpoint_End, TextPatternRangeEndpoint_Start, UIA_TextPatternId,
};
use windows::core::Result;

use super::automation::pattern;
use crate::tree::uia::Part;

/// Count at most this many characters.
const MOST_COUNTED: i32 = 1_000_000;

/// The first visible characters, at most `limit`; the first of the whole text if the provider does
/// not report which are visible.
pub fn visible(element: &IUIAutomationElement, limit: usize) -> Result<Part> {
    let pattern: IUIAutomationTextPattern = pattern(element, UIA_TextPatternId)?;
    let limit = i32::try_from(limit).unwrap_or(i32::MAX);
    // SAFETY: calls of COM.
    unsafe {
        let whole = pattern.DocumentRange()?;
        let shown = pattern.GetVisibleRanges().and_then(|shown| {
            let last = shown.Length()?.saturating_sub(1);
            // From the first visible range to the last.
            let range = shown.GetElement(0)?.Clone()?;
            let end = TextPatternRangeEndpoint_End;
            range.MoveEndpointByRange(end, &shown.GetElement(last)?, end)?;
            Ok(range)
        });
        let (text, before) = match shown {
            Ok(shown) => {
                let ahead = whole.Clone()?;
                let (end, start) = (TextPatternRangeEndpoint_End, TextPatternRangeEndpoint_Start);
                ahead.MoveEndpointByRange(end, &shown, start)?;
                (text(&shown, limit)?, length(&ahead)?)
            }
            Err(_) => (text(&whole, limit)?, 0),
        };
        let after = length(&whole)?.saturating_sub(before + text.chars().count());
        Ok(Part {
            text,
            before,
            after,
        })
    }
}

fn text(range: &IUIAutomationTextRange, limit: i32) -> Result<String> {
    // SAFETY: a call of COM.
    let text = unsafe { range.GetText(limit)? };
    Ok(String::from_utf16_lossy(&text))
}

fn length(range: &IUIAutomationTextRange) -> Result<usize> {
    Ok(text(range, MOST_COUNTED)?.chars().count())
}

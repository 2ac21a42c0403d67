//! The visible text of an element.

use std::time::{Duration, Instant};

use windows::Win32::UI::Accessibility::{
    IUIAutomationElement, IUIAutomationTextPattern, IUIAutomationTextRange,
    TextPatternRangeEndpoint_End, TextPatternRangeEndpoint_Start, UIA_TextPatternId,
};
use windows::core::Result;

use super::automation::pattern;
use crate::tree::uia::Part;

/// How many characters to count at first, and how many at most. Word and Windows' console take
/// seconds for a long text (<https://github.com/microsoft/terminal/issues/6453>).
const MOST_COUNTED: [i32; 2] = [10_000, 200_000];

/// If an app takes longer than this for the first count, do not count further.
const QUICK: Duration = Duration::from_millis(5);

/// The first `limit` visible characters. If the provider does not report which characters are
/// visible, the first `limit` characters of the whole text.
pub fn visible(element: &IUIAutomationElement, limit: usize) -> Result<Part> {
    let pattern: IUIAutomationTextPattern = pattern(element, UIA_TextPatternId)?;
    let limit = i32::try_from(limit).unwrap_or(i32::MAX);
    // SAFETY: calls of COM.
    unsafe {
        let (start, end) = (TextPatternRangeEndpoint_Start, TextPatternRangeEndpoint_End);
        let (whole, ahead) = (pattern.DocumentRange()?, pattern.DocumentRange()?);
        let shown = pattern.GetVisibleRanges().and_then(|shown| {
            let last = shown.Length()?.saturating_sub(1);
            // From the first visible range to the last.
            let range = shown.GetElement(0)?.Clone()?;
            range.MoveEndpointByRange(end, &shown.GetElement(last)?, end)?;
            Ok(range)
        });
        let shown = shown.or_else(|_| whole.Clone())?;
        ahead.MoveEndpointByRange(end, &shown, start)?;
        whole.MoveEndpointByRange(start, &shown, start)?;
        let (text, before) = (text(&shown, limit)?, length(&ahead)?);
        let after = length(&whole)?.saturating_sub(text.chars().count());
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

/// The number of characters in the range; a smaller number if the app counts slowly, or there are
/// more than the maximum.
fn length(range: &IUIAutomationTextRange) -> Result<usize> {
    let asked = Instant::now();
    let [first, most] = MOST_COUNTED;
    let counted = text(range, first)?.chars().count();
    if counted < first as usize || asked.elapsed() > QUICK {
        return Ok(counted);
    }
    Ok(text(range, most)?.chars().count())
}

//! The facts about a display system that the doctor reports.

use deskline_contract::Offer;
use deskline_contract::doctor::Fix;
use deskline_contract::guard::Guards;

/// The doctor's words about input and pictures on most display systems.
pub const BY_PROTOCOLS: &str = "by the compositor's own protocols";

/// The facts about a display system that the doctor reports.
pub struct Findings {
    /// The input that the guard keeps out, or why it keeps out none.
    pub guard: Result<String, String>,
    /// How windows are brought to the front.
    pub raise: &'static str,
    /// How the pointer and the keys reach apps.
    pub pointer: &'static str,
    pub keys: &'static str,
    /// Whether each ability that it lacks has a reason of its own.
    pub has_reasons: bool,
    /// The single step that would grant it pictures, if it lacks that right.
    pub mends_pictures: Option<Fix>,
}

impl Findings {
    /// The findings for a system that works through the compositor's protocols only.
    pub fn by_protocols(guard: Offer<&mut dyn Guards>) -> Self {
        Self {
            guard: guard
                .map(|_| "yes".into())
                .map_err(|why| why.0.into_owned()),
            raise: BY_PROTOCOLS,
            pointer: BY_PROTOCOLS,
            keys: BY_PROTOCOLS,
            has_reasons: false,
            mends_pictures: None,
        }
    }
}

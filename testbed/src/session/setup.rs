//! The session that a test wants.

use crate::place::Place;

/// The path of sway's socket where Deskline does not look for one.
pub(super) const HIDDEN: &str = "hidden.sock";

/// Debian's next release.
const NEXT: &str = "forky";

/// The display server of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compositor {
    /// sway 1.10.
    Sway,
    /// labwc 0.8.
    Labwc,
    /// KWin 6.3.
    Kwin,
    /// KWin 5.27, of Debian 12.
    Kwin5,
    /// GNOME Shell 48.
    Gnome,
    /// Xvfb and xfwm4, as `deskline desktop` starts them.
    X11,
    /// The sway of `deskline desktop --wayland`.
    Private,
}

impl Compositor {
    /// Its name in `apps/session.sh`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sway => "sway",
            Self::Labwc => "labwc",
            Self::Kwin => "kwin",
            Self::Kwin5 => "kwin5",
            Self::Gnome => "gnome",
            Self::X11 => "x11",
            Self::Private => "private",
        }
    }

    /// `XDG_CURRENT_DESKTOP`.
    pub(super) fn desktop(self) -> &'static str {
        match self {
            Self::Sway => "sway",
            Self::Labwc => "labwc:wlroots",
            Self::Kwin | Self::Kwin5 => "KDE",
            Self::Gnome | Self::Private => "GNOME",
            Self::X11 => "XFCE",
        }
    }
}

/// Lines for Xwayland. Its windows have no `app_id`, by which the usual lines make windows float.
const XWAYLAND: &str = "xwayland enable\nfor_window [shell=\"xwayland\"] floating enable\n";

/// A session to start: `Setup::debian_13(Compositor::Gnome).extension().scale(2.0).start()`.
#[derive(Debug)]
#[must_use]
pub struct Setup {
    pub(super) compositor: Compositor,
    /// The suite of the root that its programs are from; `None`: this machine's.
    suite: Option<&'static str>,
    /// Whether sway's socket is at a path where Deskline does not find it.
    pub(super) unknown: bool,
    xwayland: bool,
    /// Further lines of sway's configuration.
    pub(super) lines: String,
    /// How many screens a compositor of wlroots has.
    pub(super) screens: usize,
    /// Whether GNOME Shell has Deskline's extension.
    pub(super) extension: bool,
    /// The scale of KWin's or GNOME's screen, if not 1.
    pub(super) scale: Option<f64>,
    /// The scale of KWin's or GNOME's second screen, if it has one.
    pub(super) second: Option<f64>,
    pub(super) physical: bool,
    pub(super) bare: bool,
    /// Whether KWin takes a keyboard from any program.
    pub(super) hands: bool,
    /// Whether root is root in the session's own root too.
    has_root: bool,
}

impl Setup {
    fn new(compositor: Compositor, suite: Option<&'static str>) -> Self {
        Self {
            compositor,
            suite,
            unknown: false,
            xwayland: false,
            lines: String::new(),
            screens: 1,
            extension: false,
            scale: None,
            second: None,
            physical: false,
            bare: false,
            hands: false,
            has_root: false,
        }
    }

    /// A session with one of Debian 13's compositors, in the root that `testbed/trixie/make` makes.
    pub fn debian_13(compositor: Compositor) -> Self {
        Self::new(compositor, Some("trixie"))
    }

    /// A session with one of the compositors of Debian's next release. `None`, with a word, if
    /// there is no root of it: its packages change every day, and sometimes cannot be installed.
    pub fn next_release(compositor: Compositor) -> Option<Self> {
        let root = Place::of_suite(NEXT, false);
        if root.is_none() {
            eprintln!("skipped: testbed/trixie/make has made no root of {NEXT}");
        }
        root.map(|_| Self::new(compositor, Some(NEXT)))
    }

    /// This machine's compositor.
    pub fn here(compositor: Compositor) -> Self {
        Self::new(compositor, None)
    }

    /// sway, with its socket at a path where Deskline does not find it. It is then like an unknown
    /// compositor to Deskline.
    pub fn unknown(mut self) -> Self {
        self.unknown = true;
        self
    }

    /// sway, with Xwayland.
    pub fn xwayland(mut self) -> Self {
        self.xwayland = true;
        self.lines += XWAYLAND;
        self
    }

    /// sway, with its bar, which knows the items of the tray.
    pub fn bar(mut self) -> Self {
        self.lines += "bar {\n position bottom\n status_command true\n}\n";
        self
    }

    /// sway, with these screens, each given as arguments of its command `output`.
    pub fn screens(mut self, screens: &[&str]) -> Self {
        let lines = (1..).zip(screens);
        let lines = lines.map(|(n, screen)| format!("output HEADLESS-{n} {screen}\n"));
        self.lines.extend(lines);
        self.screens = screens.len();
        self
    }

    /// labwc, with two screens beside each other, of 1280x720.
    pub fn two_screens(mut self) -> Self {
        self.screens = 2;
        self
    }

    /// KWin or GNOME Shell, with a screen of this scale, which has room for the same content as the
    /// usual one.
    pub fn scale(mut self, scale: f64) -> Self {
        self.scale = Some(scale);
        self
    }

    /// KWin or GNOME Shell, with a second screen of this scale beside the first. It has as many
    /// pixels as the first.
    pub fn second_screen(mut self, scale: f64) -> Self {
        self.second = Some(scale);
        self
    }

    /// Makes GNOME Shell use physical pixels on a scaled screen, as it does without Debian's
    /// settings.
    pub fn physical_pixels(mut self) -> Self {
        self.physical = true;
        self
    }

    /// GNOME Shell, with Deskline's extension, installed as in its README, and without the shortcut
    /// with which Deskline raises windows if there is no extension.
    pub fn extension(mut self) -> Self {
        self.extension = true;
        self
    }

    /// GNOME Shell without a keyboard and a pointer on its seat, like a headless session, or a
    /// remote one while nobody is connected.
    pub fn bare(mut self) -> Self {
        self.bare = true;
        self
    }

    /// A session at which a person types, with a keyboard of their own: see [`Session::person`].
    ///
    /// [`Session::person`]: crate::Session::person
    pub fn person(mut self) -> Self {
        self.hands = true;
        self
    }

    /// A session in whose folder root can install a program, if root runs the test.
    pub fn with_root(mut self) -> Self {
        self.has_root = true;
        self
    }

    /// The kind of session, by which tests with the same setup share one. `None` for this machine's
    /// sessions, which start quickly and are changed by their tests.
    pub(super) fn shared_kind(&self) -> Option<String> {
        let one_screen = self.screens == 1 && self.scale.is_none() && self.second.is_none();
        let is_usual =
            one_screen && self.lines.is_empty() && !self.bare && !self.hands && !self.has_root;
        let suite = self.suite.filter(|_| is_usual)?;
        Some(format!(
            "{suite} {:?} {:?}",
            self.compositor, self.extension
        ))
    }

    /// Whether the environment names Xwayland's display: Deskline then finds no other.
    pub(super) fn is_unknown_with_xwayland(&self) -> bool {
        self.unknown && self.xwayland
    }

    pub(super) fn place(&self) -> Place {
        let Some(suite) = self.suite else {
            return Place::Here;
        };
        Place::of_suite(suite, self.has_root).unwrap_or_else(|| {
            panic!(
                "no root of {suite} that the session's user can read: make it with \
                 testbed/trixie/make, or name it in DESKLINE_{}",
                suite.to_uppercase()
            )
        })
    }
}

//! Why a target cannot be acted on. Nothing was sent in any of these cases.

use std::time::Duration;

use deskline_core::{App, Point, Ref, escape};

/// The advice about an app whose windows accessibility does not list now.
pub const AWAY: &str = "Its windows are on another Space or in full screen, where accessibility does \
                    not list them. A tool that sends input, such as click_and_traverse, goes there \
                    and comes back";

/// Why a target cannot be acted on. Titles are hostile data.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// The action has no target and needs one.
    #[error("this action needs a target: ref, element, or x and y")]
    Missing,
    /// The target is given by text or ref, but the app was not read.
    #[error("the tree was not read")]
    NotRead,
    /// An error whose words a function below composes.
    #[error("{0}")]
    Worded(String),
    /// The element does not show, in the words of [`TargetError::not_showing`].
    #[error("{0}")]
    NotShowing(String),
    /// No element lies at the place, and the action needs one.
    #[error("there is no element at {0}. Take coordinates from a tree line")]
    NoElement(String),
    /// Something else has received the press.
    #[error(
        "{0} did not go down under the pointer: something that the tree does not list lies over it \
         and has received the press, or the app has replaced it meanwhile. Look at the screenshot, \
         and use press_ax_and_traverse or set_selected_and_traverse"
    )]
    NotPressed(String),
    /// The element is at another place at each reading, or moves away whenever the pointer comes.
    #[error(
        "{0} still moves after 1 s, or moves away from the pointer. Nothing was clicked. Wait until the \
         element stands still, or use press_ax_and_traverse"
    )]
    Moves(String),
    /// The element has no bounds.
    #[error("{0} has no bounds on the screen. Use press_ax_and_traverse, which needs none")]
    NoBounds(String),
    /// The element is disabled, and stays so.
    #[error(
        "{0} is disabled, and was not enabled within 1 s. Nothing was touched. Do first what \
         enables it, or click it by x and y if it does not look disabled"
    )]
    Disabled(String),
    /// No list of choices opened.
    #[error(
        "{0} was clicked, but no choice appeared in the tree, so it was closed again. Open it with \
         click_and_traverse, look at the screenshot, and choose by keys: Down, Return"
    )]
    NotOpened(String),
    /// The element on which a drag was to end does not exist any more.
    #[error("the element to drop on is gone. Nothing was dragged. Call refresh_traversal")]
    DragEndGone,
    /// The ends of a drag cannot be in view at the same time.
    #[error(
        "{0} and the end of the drag are not visible at the same time: one scrolls out of view \
         when the other is scrolled into it. Nothing was dragged. Make the window larger, drag in \
         steps, or cut and paste"
    )]
    DragTooFar(String),
    /// The windows of a drag between two apps are not visible at the same time.
    #[error(
        "'{}', where the drag was to end, is not visible together with the window dragged from: \
         they are on different workspaces, or one hides the other. Nothing was dragged. Move one \
         window so that both are visible",
        escape::short(.0, 40)
    )]
    DragEndHidden(String),
    /// The target's window is behind, and this desktop cannot raise it.
    #[error(
        "the target's window is not in front, and this desktop cannot bring it there: {0}. Nothing \
         was touched. Ask the user to bring it to the front, or use press_ax_and_traverse, \
         set_value_and_traverse or set_selected_and_traverse, which need no window"
    )]
    CannotRaise(String),
    /// The window to raise does not exist any more.
    #[error("the window that was to come to the front is gone. Call refresh_traversal")]
    WindowGone,
    /// The window did not come to the front in time. Another program may prevent it.
    #[error(
        "the window {} did not come to the front within 1 s; {} is in front. {}",
        escape::quoted(.title, 40),
        .front.map_or_else(|| "no window".to_owned(), |pid| format!("a window of pid {pid}")),
        held_back(*.manager)
    )]
    HeldBack {
        title: String,
        /// The pid of the window in front, if any window is in front.
        front: Option<u32>,
        /// The window manager, if it ignores requests to bring a window to the front.
        manager: Option<&'static str>,
    },
    /// Another program has grabbed the person's devices for this many seconds.
    #[error(
        "another program, perhaps another agent, has held the user's keyboard or pointer for {0} \
         s, so Deskline could not block them. Nothing was sent. Try again"
    )]
    DevicesHeld(u64),
    /// The screen is locked: all input would go to the login window.
    #[error(
        "the screen is locked, so no input was sent. Wait until the user has unlocked it. Until \
         then press_ax_and_traverse, set_value_and_traverse and set_selected_and_traverse work"
    )]
    ScreenLocked,
    /// Another user has the screen.
    #[error(
        "another user has the screen (fast user switching), so no input was sent. Wait until the \
         user is back. Until then press_ax_and_traverse, set_value_and_traverse and \
         set_selected_and_traverse work"
    )]
    OtherUser,
    /// The app's windows are on another Space, where macOS is set not to go.
    #[error(
        "the windows of pid {pid} are all on another Space, and macOS is set not to go there \
         (System Settings › Desktop & Dock: 'When switching to an application, switch to a Space \
         with open windows'). No input was sent. Ask the user to turn that on, or to go there"
    )]
    SpaceStays { pid: u32 },
    /// The toolkit does not report where its menu is.
    #[error(
        "the app does not report where its open menu is, so a click at {0} may reach another \
         item. Nothing was clicked. Use press_ax_and_traverse on the item, or \
         press_key_and_traverse with Up, Down, Return or Escape"
    )]
    MenuPlaceUnknown(Point),
    /// The person holds a mouse button.
    #[error(
        "the user is holding a mouse button down, and a click would become part of what they are \
         doing. Nothing was sent. Try again in a moment"
    )]
    ButtonHeld,
}

/// The errors that no caller distinguishes by their variant.
impl TargetError {
    /// The app's windows are on another Space, and the ref is not in the app's tree.
    pub fn ref_away(reference: Ref, App { name, pid }: &App) -> Self {
        let name = escape::name(name, 40);
        Self::Worded(format!(
            "#{reference} is not among the elements that {name} (pid {pid}) shows now. Nothing was \
             touched. {AWAY}"
        ))
    }

    /// The app's windows are on another Space, and the wanted window is not in the app's tree.
    pub fn window_away(wanted: &str, App { name, pid }: &App) -> Self {
        let name = escape::name(name, 40);
        Self::Worded(format!(
            "{name} (pid {pid}) shows no window {wanted} now. Nothing was touched. {AWAY}"
        ))
    }

    /// The app shows no window `wanted`. `windows` names those that it shows.
    pub fn no_such_window(wanted: &str, App { name, pid }: &App, windows: Option<&str>) -> Self {
        let (name, windows) = (escape::name(name, 40), windows.unwrap_or("none"));
        Self::Worded(format!(
            "{name} (pid {pid}) shows no window {wanted}. It shows {windows}. Nothing was touched. \
             Pass a part of a title, or the ref of a window"
        ))
    }

    /// Several windows, with these labels, have the title.
    pub fn several_windows(wanted: &str, windows: &[String]) -> Self {
        let (count, windows) = (windows.len(), windows.join(", "));
        Self::Worded(format!(
            "{count} windows match '{wanted}', the frontmost first: {windows}. Nothing was touched. \
             Pass the ref of one as window"
        ))
    }

    /// The place is in none of the app's windows. `windows` names the first of them.
    pub fn outside_windows(at: Point, windows: &[String]) -> Self {
        let windows = windows.join("; ");
        Self::Worded(format!(
            "{at} is in none of the app's windows: {windows}. Nothing was touched. Take \
             coordinates from a tree line"
        ))
    }

    /// A window of the app, with this title, covers the place.
    pub fn under_window(title: &str, at: Point) -> Self {
        let title = escape::short(title, 40);
        Self::Worded(format!(
            "the app's own window '{title}' covers {at}, where the input was to go. Nothing \
             was touched. Move or close that window, or use press_ax_and_traverse"
        ))
    }

    /// The app has several windows like the element's window, and does not report which of them has
    /// the element.
    pub fn similar_windows(app: &str, title: &str, count: usize) -> Self {
        let (app, title) = (escape::name(app, 40), escape::short(title, 40));
        Self::Worded(format!(
            "{app} has windows like '{title}' ({count}), and does not report which of them has this \
             element. Nothing was clicked. Close one of them, or use press_ax_and_traverse, which \
             needs no window"
        ))
    }

    /// Another element of the app lies over every point of the target. `over` is the name and ref
    /// of the other element.
    pub fn covered(name: &str, over: Option<&str>) -> Self {
        let over = over.unwrap_or("something that the tree does not list");
        Self::Worded(format!(
            "{name} is covered by {over}. Nothing was sent. Close or move what covers it, scroll, or \
             use press_ax_and_traverse"
        ))
    }

    /// The element does not show. `holder` is the innermost visible element around it.
    pub fn not_showing(name: &str, holder: Option<&str>) -> Self {
        let holder = holder.map_or_else(String::new, |holder| format!(" It is inside {holder}."));
        Self::NotShowing(format!(
            "{name} is not showing.{holder} Open the menu, tab or section that it is in, move its \
             window onto the screen, or use press_ax_and_traverse"
        ))
    }

    /// The element is scrolled away, and the wheel did not bring it into view. `holder` is the name
    /// and ref of its scroll area.
    pub fn scrolled_away(name: &str, holder: &str, Point { x, y }: Point, lines: i32) -> Self {
        Self::Worded(format!(
            "{name} is scrolled out of view, and the wheel did not bring it into view. Call \
             scroll_and_traverse with x {x}, y {y} (over {holder}), deltaY {lines} and the element's \
             text as until"
        ))
    }

    /// Another window, with this title, covers `to`, the end of a drag.
    pub fn drag_end_covered(title: &str, to: &str) -> Self {
        let title = escape::short(title, 40);
        Self::Worded(format!(
            "the window '{title}' covers {to}, where the drag was to end. Nothing was dragged. Move \
             one of the two windows"
        ))
    }

    /// None of the choices has the text. `nearest` are the most similar choices, in quotes.
    pub fn no_such_choice(name: &str, choice: &str, nearest: &[String]) -> Self {
        let (choice, near) = (escape::short(choice, 60), nearest.join(", "));
        let near = match nearest {
            [] => "Accessibility lists no choice in it".to_owned(),
            _ => format!("Nearest: {near}"),
        };
        Self::Worded(format!(
            "{name} has no choice '{choice}'. {near}. Nothing was chosen. Pass the text of one as \
             choose"
        ))
    }

    /// Several choices have the text. `found` names each of them, such as `item 2, #e9`.
    pub fn several_choices(name: &str, choice: &str, found: &[String]) -> Self {
        let (count, choice) = (found.len(), escape::short(choice, 60));
        let found = found.join(", ");
        Self::Worded(format!(
            "{name} has {count} choices '{choice}': {found}. Nothing was chosen. Open it with \
             click_and_traverse, and click the one that is meant by its ref"
        ))
    }

    /// The window was to come to the front and did not. `stays` names the window that stays there:
    /// ` (Finder, pid 7, stays there)`.
    pub fn not_raised(pid: u32, stays: &str) -> Self {
        Self::Worded(format!(
            "the window of pid {pid} did not come to the front{stays}, so no input was sent. A \
             modal dialog may hold it back. Call refresh_traversal to see it"
        ))
    }
}

/// Why an app has no window, as far as the reason is known, and the next step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WindowHint {
    /// The app's windows may be closed, or not open yet.
    #[error("Its windows may be closed or not open yet. Call refresh_traversal to look again")]
    ClosedOrComing,
    /// The app's windows are on another Space, and switching to that Space did not list them.
    #[error(
        "Its windows are on another Space and could not be brought here. Ask the user to show one \
         of these windows"
    )]
    DidNotCome,
    /// The toolkit puts the app on the accessibility bus only if the app is started as `remedy`
    /// says.
    #[error(
        "It is a {toolkit} app that is not on the accessibility bus. End it and start it again \
         {remedy}, or with open_application_and_traverse. Call list_applications to see which apps \
         can be driven"
    )]
    Restart {
        toolkit: &'static str,
        /// How to start the app.
        remedy: &'static str,
    },
    /// The app was started with accessibility turned on, and is not on the accessibility bus.
    #[error(
        "It is a {toolkit} app that is not on the accessibility bus, though it was started with \
         accessibility turned on. End it and start it again with open_application_and_traverse. If \
         it is not there then, it was built without accessibility. Call list_applications to see \
         which apps can be driven"
    )]
    TurnedOn { toolkit: &'static str },
    /// The app is not on the accessibility bus, and its toolkit is unknown.
    #[error(
        "It is not on the accessibility bus. Restart it with open_application_and_traverse, which \
         turns accessibility on. If it is still missing, its toolkit has no accessibility. Call \
         list_applications to see which apps can be driven"
    )]
    NotOnBus,
    /// The app runs as the user of this id, who cannot join this user's accessibility bus.
    #[error(
        "It runs as {}, whose apps cannot join this user's accessibility bus. Start it as this user, \
         with open_application_and_traverse. Call list_applications to see which apps can be driven",
        user(*.0)
    )]
    OtherUser(u32),
    /// The app's environment names another session bus or accessibility bus than this desktop's.
    #[error(
        "It was started with another DBUS_SESSION_BUS_ADDRESS or AT_SPI_BUS_ADDRESS than this \
         desktop's, so it is on another accessibility bus. End it and start it again with \
         open_application_and_traverse. Call list_applications to see which apps can be driven"
    )]
    OtherBus,
    /// The system's accessibility answered with this error.
    #[error(
        "Accessibility could not read this app ({0}). Call list_applications to see which apps can \
         be driven"
    )]
    SystemError(String),
    #[error(
        "It runs without a window. Try its menu bar with refresh_traversal, or open a document \
         with it"
    )]
    Windowless,
}

fn held_back(manager: Option<&str>) -> String {
    match manager {
        Some(manager) => format!(
            "The window manager, {manager}, lets no program bring a window to the front. Ask the \
             user to switch to it, or use press_ax_and_traverse, set_value_and_traverse and \
             set_selected_and_traverse, which need no front window"
        ),
        None => "Another program may hold the keyboard with an open menu or dialog. Close that \
            first"
            .to_owned(),
    }
}

fn user(id: u32) -> String {
    match id {
        0 => "root".to_owned(),
        id => format!("another user (uid {id})"),
    }
}

impl WindowHint {
    /// How long an app with a window may take to appear on the accessibility bus: longer if its
    /// toolkit is known to have accessibility.
    pub fn joins(&self) -> Duration {
        match self {
            Self::NotOnBus => Duration::from_secs(1),
            _ => Duration::from_secs(10),
        }
    }

    /// Why an app whose windows the display lists has no tree, and what would help.
    pub fn no_tree(&self) -> String {
        let why = match self {
            Self::Restart { toolkit, remedy } => format!(
                "it is a {toolkit} app that is not on the accessibility bus. Started again \
                 {remedy} it has a tree. Until then"
            ),
            Self::TurnedOn { toolkit } => format!(
                "it is a {toolkit} app that is not on the accessibility bus, though it was started \
                 with accessibility turned on. It may have a tree if it is started again. Until then"
            ),
            Self::OtherUser(id) => format!(
                "it runs as {}, whose apps cannot join this user's accessibility bus. Started as \
                 this user it has a tree. Until then",
                user(*id)
            ),
            Self::OtherBus => "it was started with another DBUS_SESSION_BUS_ADDRESS or \
                               AT_SPI_BUS_ADDRESS than this desktop's, so it is on another \
                               accessibility bus. Started again with \
                               open_application_and_traverse it has a tree. Until then"
                .to_owned(),
            _ => "the app is not on the accessibility bus: its toolkit seems to have no \
                  accessibility. So"
                .to_owned(),
        };
        format!(
            "{why} look at the screenshot, and click, drag and scroll by x and y: add the window's x \
             and y to those in the screenshot"
        )
    }
}

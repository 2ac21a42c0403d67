//! The promises that every desktop keeps, as one table. Three windows overlap, with the person's in
//! front. Each promise is tested in each window behind it, and then the person's window is in front
//! again.

use std::time::Instant;

use serde_json::json;

use crate::{Client, NativeApp, Session, Toolkit, until};

/// What a desktop cannot do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// Keys for text that the person's layout does not have.
    OtherText,
    /// Positions on the screen: coordinates count from the window.
    Places,
    /// A guard of its own.
    Guard,
    Pictures,
}

/// A window of a desktop, and what the desktop lacks.
struct Case<'c> {
    server: &'c Client,
    app: &'c NativeApp,
    toolkit: Toolkit,
    /// Whether the toolkits are this machine's.
    is_here: bool,
    lacks: &'c [Lack],
}

type Test = fn(&Case<'_>);

/// What is promised, and the test of it.
const PROMISES: [(&str, Test); 8] = [
    ("click", |it| it.clicks()),
    ("type", |it| it.types()),
    ("menu", |it| it.chooses_from_the_menu()),
    ("set", |it| {
        let pid = it.app.pid();
        it.server.set_value(pid, "AXSlider", "Volume", "90").ok();
        it.app.wait_for("value Volume 90");
    }),
    ("press", |it| {
        it.app.clear_log();
        it.server.press_ax(it.app.pid(), "AXButton", "OK").ok();
        it.app.wait_for("clicked OK");
    }),
    ("form", |it| {
        it.server
            .set_value(it.app.pid(), "AXTextField", "Name", "")
            .ok();
        it.server.fills_the_form(it.app);
    }),
    ("wheel", |it| it.server.turns_the_wheel(it.app)),
    ("drag", |it| {
        // GTK 4.8 reports the bounds of the pad's label instead of the pad's.
        if !it.is_gtk_4_8() {
            it.server.drags_over_the_pad(it.app);
        }
    }),
];

impl Case<'_> {
    fn is_gtk_4_8(&self) -> bool {
        self.is_here && self.toolkit == Toolkit::Gtk4
    }

    fn clicks(&self) {
        let of = format!("{:?}", self.toolkit);
        // For a button, GTK 4.8 reports the bounds of its label.
        let answer = if self.is_gtk_4_8() {
            let bold = json!({"element": "Bold"});
            self.server.toggles(self.app, bold, 1, &of)
        } else {
            self.server.clicks_are_exact(self.app, &of)
        };
        let of_window = answer.file().contains("# coordinates: window");
        assert_eq!(of_window, self.lacks.contains(&Lack::Places), "{of}");
    }

    /// GTK 4.8 reports an item of a menu at the place of another item. Where the compositor does
    /// not list the menu's window, a click on the item is refused.
    fn chooses_from_the_menu(&self) {
        if !self.is_gtk_4_8() {
            return self.server.menu_item_is_clicked(self.app);
        }
        let pid = self.app.pid();
        let [role, item] = ["AXMenuItem", "File option"];
        self.server.click(pid, "AXMenuBarItem", "File").ok();
        self.app.clear_log();
        let clicked = self.server.click(pid, role, item);
        if clicked.is_error {
            clicked.fails_with("does not report where its open menu is");
            assert_eq!(self.app.log(), [""; 0]);
            self.server.press_ax(pid, role, item).ok();
        }
        self.app.wait_for("menu File option true");
    }

    fn types(&self) {
        if self.lacks.contains(&Lack::OtherText) {
            let text = "ABC abc 123 !?@#$%^&*()_+{}|:\"<>~`-=[]\\;',./";
            self.server.types_and_types_over(self.app, text);
            let refused = self.server.type_text(self.app.pid(), "漢");
            refused.fails_with("character 1 of the text");
        } else {
            let text = "Grüße, 漢字 😀 £5: 1+1=2!";
            self.server.types_and_types_over(self.app, text);
        }
    }
}

impl Session {
    /// Tests the promises with these toolkits, the last one's window in front, and what the doctor
    /// says. Returns its words, the server and the apps.
    pub fn keeps_all_but<const N: usize>(
        &self,
        lacks: &[Lack],
        toolkits: [Toolkit; N],
    ) -> (String, Client, [NativeApp; N]) {
        let server = self.server();
        let apps = toolkits.map(|toolkit| self.widgets(toolkit, &server));
        let (front, behind) = apps.split_last().unwrap();
        let persons = || server.has_in_front(front).then_some(());
        until("the person's window", persons);
        for (toolkit, app) in toolkits.into_iter().zip(behind) {
            let case = Case {
                server: &server,
                app,
                toolkit,
                is_here: self.is_here(),
                lacks,
            };
            for (promise, keep) in PROMISES {
                let start = Instant::now();
                keep(&case);
                until(&format!("the person's window, {promise}"), persons);
                println!("{toolkit:?}: {promise}, {:.1?}", start.elapsed());
            }
        }
        assert!(front.log().iter().all(|l| !l.starts_with("clicked")));
        let rows = [("input lock", Lack::Guard), ("screenshot", Lack::Pictures)];
        let (bad, good): (Vec<_>, Vec<_>) = rows.iter().partition(|(_, row)| lacks.contains(row));
        let [bad, good] =
            [bad, good].map(|rows| rows.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        let good = [&["windows", "raise", "pointer", "keys"], &good[..]].concat();
        (self.doctor_says(&[], &good, &bad), server, apps)
    }
}

//! sway 1.10: the agent has a seat of its own, and a person works at the same time. The person is a
//! second server without a guard: its devices belong to the person's seat, `seat0`.

use deskline_testbed::{Client, Compositor, NativeApp, Session, Setup, Toolkit, has, until};
use serde_json::json;

/// The agent's text: 600 characters in all, in parts with clicks between them.
const PARTS: usize = 3;
const PART: &str = "the agent writes this line into its own field, ok. ";
const PER_PART: usize = 200;

/// The person's text, typed again and again. The agent's text has none of its characters.
const THEIRS: &str = "0123456789012345678901234567890123456789";

fn own_seat(session: &Session) -> Client {
    let agent = session.server_with(&["--seat", "own"]);
    // The seat exists from the first call on. GTK apps receive its input if they start after that.
    agent.applications().ok();
    agent
}

/// The field's text, by the app's own log.
fn text(app: &NativeApp) -> String {
    let log = app.log();
    let last = log.iter().rev().find_map(|l| l.strip_prefix("text Name "));
    last.unwrap_or_default().to_owned()
}

#[test]
fn an_agent_and_a_person_type_at_once_and_nothing_mixes() {
    let session = Setup::debian_13(Compositor::Sway)
        .screens(&["resolution 2500x900"])
        .start()
        .ends_with_the_test();
    let agent = own_seat(&session);
    let person = session.server_with(&["--guard", "off"]);
    let apps = Toolkit::DEBIAN_13.map(|toolkit| session.widgets(toolkit, &person));
    for (n, app) in apps.iter().enumerate() {
        let left = n * 830;
        let place = format!("[pid={}] move absolute position {left} 50", app.pid());
        session.sway(&place);
    }
    let field = || json!({"element": "Name", "role": "AXTextField"});
    let part: String = PART.chars().cycle().take(PER_PART).collect();
    for turn in 0..apps.len() {
        let (theirs, its) = (&apps[turn], &apps[(turn + 1) % apps.len()]);
        // The person begins in their own app, as otherwise their server would restore the focus
        // each time.
        session.sway(&format!("[pid={}] focus", theirs.pid()));
        for (server, app) in [(&agent, its), (&person, theirs)] {
            app.clear_log();
            server.call_for(app, "click_and_traverse", field()).ok();
            server.press_key(app.pid(), "a", &["Control"]).ok();
        }
        let mut bursts = 0;
        std::thread::scope(|scope| {
            let work = scope.spawn(|| {
                for _ in 0..PARTS {
                    agent.type_text(its.pid(), &part).ok();
                    let ok = json!({"element": "OK", "role": "AXButton"});
                    agent.call_for(its, "click_and_traverse", ok).ok();
                    agent.call_for(its, "click_and_traverse", field()).ok();
                    agent.press_key(its.pid(), "End", &[]).ok();
                }
            });
            while !work.is_finished() {
                person.type_text(theirs.pid(), THEIRS).ok();
                assert!(person.has_in_front(theirs));
                bursts += 1;
            }
        });
        let typed = THEIRS.repeat(bursts);
        until("the person's text", || text(theirs) == typed);
        assert_eq!(text(its), part.repeat(PARTS), "{turn}");
        assert_eq!(its.logged("clicked OK"), PARTS, "{turn}");
        assert_eq!(theirs.logged("clicked OK"), 0, "{turn}");
        println!("600 of the agent's beside {} of the person's", typed.len());
        assert!(
            bursts >= 5,
            "the person typed only {bursts} times meanwhile"
        );
    }
}

#[test]
fn the_doctor_names_the_apps_that_the_agents_seat_reaches() {
    let session = Session::new(Compositor::Sway).ends_with_the_test();
    let person = session.server();
    let row = || {
        let args = ["doctor", "--seat", "own", "--dir", "j"];
        let output = session.deskline(&args).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        has(&printed, "the agent has a seat of its own");
        let row = printed
            .lines()
            .find(|line| line.contains("✓ seat") || line.contains("! seat"));
        row.unwrap_or_else(|| panic!("{printed}")).to_owned()
    };
    let _qt = session.widgets(Toolkit::Qt6, &person);
    let heard = row();
    assert!(heard.contains("✓ seat"), "{heard}");
    let gtk = session.widgets(Toolkit::Gtk4, &person);
    let unheard = row();
    let named = format!("({}): it was started before the seat", gtk.pid());
    has(&unheard, "! seat");
    has(&unheard, &named);
}

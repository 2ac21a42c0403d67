//! Qt Designer, read and driven through UI Automation, and judged by the file that it saves. Run by
//! scripts/windows under Wine; `DESKLINE_QT` is the folder with designer.exe.

#![cfg(windows)]
#![allow(clippy::expect_used)]

#[path = "common/bed.rs"]
mod bed;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use deskline_contract::{Deed, Desktop, Error, Obstacle, Platform as _, Refusal, Scope};
use deskline_core::{Element, Role, States, Tree};
use deskline_windows::WinPlatform;

use bed::{App, FORM};

const WHOLE: Scope = Scope::Whole {
    budget: Duration::from_millis(500),
};

/// How long to wait for an app's windows, under Wine on a busy machine.
const STARTS: Duration = Duration::from_secs(60);

fn named<'t>(tree: &'t Tree, role: Role, name: &str) -> Option<&'t Element> {
    let mut all = tree.elements.iter();
    all.find(|e| e.role == role && e.title.shown == name)
}

fn outline(tree: &Tree) -> String {
    let line = |e: &Element| {
        let words: Vec<_> = e.states.words().collect();
        let (role, title, value) = (e.role.ax(), &e.title.shown, &e.value.shown);
        format!(
            "{role} ({}) {title:?} {value:?} {:?} {words:?}\n",
            e.native_role, e.extents
        )
    };
    tree.elements.iter().map(line).collect()
}

/// Reads the tree until the condition holds.
fn until<T>(trees: &mut dyn Desktop, pid: u32, find: impl Fn(&Tree) -> Option<T>) -> T {
    let start = Instant::now();
    let mut last = String::new();
    while start.elapsed() < STARTS {
        match trees.read(pid, WHOLE) {
            Ok(tree) => match find(&tree) {
                Some(found) => return found,
                None => last = outline(&tree),
            },
            Err(error) => last = error.to_string(),
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("not there after {STARTS:?}: {last}");
}

#[test]
fn designer_is_read_and_driven() {
    let Some(qt) = std::env::var_os("DESKLINE_QT") else {
        eprintln!("skipped: DESKLINE_QT is not set (scripts/windows sets it)");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let form = folder.path().join("form.ui");
    std::fs::write(&form, FORM).expect("a form");
    let program = Path::new(&qt).join("designer.exe");
    let child = Command::new(program).arg(&form).current_dir(&qt).spawn();
    let app = App(child.expect("Designer starts"));
    let pid = app.0.id();
    let platform = WinPlatform::new();
    let mut trees = platform.connect().expect("a desktop");

    // The form is open, and the form's own widgets are in the tree.
    let tree = until(&mut *trees, pid, |tree| {
        named(tree, Role::CHECK_BOX, "Second")?;
        named(tree, Role::BUTTON, "Save")?;
        Some(tree.clone())
    });
    eprintln!("{}", outline(&tree));
    assert!(tree.elements.len() > 100, "{}", outline(&tree));
    assert_eq!(tree.partial, Vec::<String>::new());
    let second = named(&tree, Role::CHECK_BOX, "Second").expect("it was there");
    let extents = second.extents.expect("a place");
    assert!(
        second.visible && extents.w > 10 && extents.h > 10,
        "{second:?}"
    );
    let window = &tree.windows[0];
    assert!(window.extents.contains(extents.center()));

    // A second read has the same ids.
    let again = trees.read(pid, WHOLE).expect("a reading");
    assert_eq!(
        named(&again, Role::CHECK_BOX, "Second").map(|e| &e.id),
        Some(&second.id)
    );
    let mut times: Vec<Duration> = (0..10)
        .map(|_| {
            let start = Instant::now();
            trees.read(pid, WHOLE).expect("a reading");
            start.elapsed()
        })
        .collect();
    times.sort();
    eprintln!(
        "{} elements in {:?} (median of 10)",
        again.elements.len(),
        times[5]
    );

    // One tool button creates a layout, another saves the form.
    let press = |trees: &mut dyn Desktop, name: &'static str| {
        let id = until(trees, pid, |tree| {
            let button =
                named(tree, Role::BUTTON, name).or_else(|| named(tree, Role::CHECK_BOX, name))?;
            (!button.states.contains(States::DISABLED)).then(|| button.id.clone())
        });
        let pressed = trees.act(&id, Deed::Press);
        pressed.unwrap_or_else(|error| panic!("{name}: {error}"));
    };
    press(&mut *trees, "Lay Out Vertically");
    press(&mut *trees, "Save");
    let start = Instant::now();
    loop {
        let saved = std::fs::read_to_string(&form).unwrap_or_default();
        if saved.contains("QVBoxLayout") {
            break;
        }
        assert!(start.elapsed() < STARTS, "not saved: {saved}");
        std::thread::sleep(Duration::from_millis(20));
    }

    // The field has the text that was set.
    let field = until(&mut *trees, pid, |tree| {
        let mut all = tree.elements.iter();
        let field = all.find(|e| e.role == Role::TEXT_FIELD && e.states.contains(States::EDITABLE));
        field.map(|field| field.id.clone())
    });
    // Changes are reported. Handlers are added on another thread, and the app's start also causes
    // events.
    trees.listen(pid).expect("a listener");
    let quiet = Duration::from_millis(500);
    while trees.wait_for_change(quiet).expect("a wait").is_some() {}
    let start = Instant::now();
    trees
        .act(&field, Deed::SetValue("Push"))
        .expect("the filter is set");
    let heard = trees.wait_for_change(STARTS).expect("a wait");
    eprintln!("{heard:?} after {:?}", start.elapsed());
    assert!(heard.is_some());
    trees.rest();
    let tree = trees.read(pid, WHOLE).expect("a reading");
    let value = tree
        .elements
        .iter()
        .find(|e| e.id == field)
        .map(|e| e.value.shown.clone());
    assert_eq!(value.as_deref(), Some("Push"), "{}", outline(&tree));

    // An element without an action is refused.
    let label = tree
        .elements
        .iter()
        .find(|e| e.role == Role::WINDOW)
        .expect("a window");
    match trees.act(&label.id.clone(), Deed::SetValue("x")) {
        Err(Error::Refused(Refusal { obstacle, .. })) => assert_ne!(obstacle, Obstacle::Gone),
        other => panic!("{other:?}"),
    }

    // A hung app costs 2 s: to wait twice would take 4 s. A busy machine may add to one of the
    // times.
    app.suspend();
    for ask in [true, false] {
        let took = (0..3).map(|_| {
            let start = Instant::now();
            let answer = if ask {
                platform.ping(pid)
            } else {
                trees.read(pid, WHOLE).map(|_| ())
            };
            let is_hung = matches!(answer, Err(Error::NotAnswering { .. }));
            assert!(is_hung, "{answer:?}");
            start.elapsed()
        });
        let took = took.min().expect("three times");
        assert!(took < Duration::from_millis(3_800), "{took:?}");
    }
    app.resume();
    assert!(until(&mut *trees, pid, |tree| named(
        tree,
        Role::BUTTON,
        "Save"
    )
    .map(|_| true)));
    assert!(platform.ping(pid).is_ok());
}

use deskline_core::{Key, KeyPress, Modifiers};
use proptest::prelude::*;

fn key(name: &str) -> Result<Key, String> {
    Key::parse(name).map_err(|e| e.to_string())
}

#[test]
fn every_named_key_is_known_in_any_case() {
    for (name, meant) in [
        ("Return", Key::Return),
        ("Enter", Key::Return),
        ("Tab", Key::Tab),
        ("Space", Key::Space),
        ("Escape", Key::Escape),
        ("Esc", Key::Escape),
        ("Delete", Key::ForwardDelete),
        ("Insert", Key::Insert),
        ("Menu", Key::Menu),
        ("Print", Key::Print),
        ("pause", Key::Pause),
        ("Scroll_Lock", Key::ScrollLock),
        ("Backspace", Key::Backspace),
        ("ForwardDelete", Key::ForwardDelete),
        ("Home", Key::Home),
        ("End", Key::End),
        ("PageUp", Key::PageUp),
        ("PageDown", Key::PageDown),
        ("Up", Key::Up),
        ("ArrowUp", Key::Up),
        ("Down", Key::Down),
        ("ArrowDown", Key::Down),
        ("DownArrow", Key::Down),
        ("Left", Key::Left),
        ("ArrowLeft", Key::Left),
        ("Right", Key::Right),
        ("ArrowRight", Key::Right),
        ("page_up", Key::PageUp),
        ("F1", Key::Function(1)),
        ("F24", Key::Function(24)),
        ("a", Key::Char('a')),
        ("A", Key::Char('a')),
        ("7", Key::Char('7')),
        ("é", Key::Char('é')),
        ("+", Key::Char('+')),
        ("-", Key::Char('-')),
        ("_", Key::Char('_')),
        ("comma", Key::Char(',')),
        ("BracketLeft", Key::Char('[')),
        (" ", Key::Space),
    ] {
        assert_eq!(key(name), Ok(meant), "{name}");
        assert_eq!(key(&name.to_uppercase()), Ok(meant), "{name}");
        assert_eq!(key(&name.to_lowercase()), Ok(meant), "{name}");
    }
}

#[test]
fn an_unknown_key_names_the_nearest() {
    for (wrong, nearest) in [
        ("Retrun", "Return"),
        ("pgup", "PageUp"),
        ("F36", "F3"),
        ("Escpe", "Escape"),
        ("Donw", "Down"),
    ] {
        let error = key(wrong).unwrap_err();
        let start = format!("unknown key '{wrong}'. The nearest is '{nearest}'. ");
        assert!(error.starts_with(&start), "{error}");
    }
    assert!(key("").is_err());
    assert!(key("\u{202e}").is_err());
    assert!(key("Control+S").is_err(), "modifiers are given apart");
}

#[test]
fn modifiers_are_read_as_a_list_or_joined() {
    let both = Modifiers::CONTROL | Modifiers::SHIFT;
    for names in [
        &["Control", "Shift"][..],
        &["ctrl+SHIFT"],
        &["Control, Shift", ""],
    ] {
        assert_eq!(Modifiers::parse(names.iter().copied()), Ok(both));
    }
    let all = "Shift Control Ctrl Option Opt Alt AltGr Command Cmd CapsLock Function Fn NumericPad \
               Numpad Help";
    assert_eq!(Modifiers::parse(all.split(' ')), Ok(Modifiers::all()));
    assert_eq!(Modifiers::parse([]), Ok(Modifiers::empty()));
    let error = Modifiers::parse(["Cntrl"]).unwrap_err().to_string();
    assert!(
        error.starts_with("unknown modifier 'Cntrl'. The nearest is 'Ctrl'. "),
        "{error}"
    );
}

#[test]
fn a_key_press_is_read_with_its_modifiers() {
    let press = KeyPress::parse("S", &["Cmd"]);
    let meant = KeyPress {
        key: Key::Char('s'),
        modifiers: Modifiers::COMMAND,
    };
    assert_eq!(press, Ok(meant));
}

proptest! {
    #[test]
    fn any_name_gets_an_answer_on_one_short_line(name in any::<String>()) {
        if let Err(error) = KeyPress::parse(&name, &[&name]) {
            let error = error.to_string();
            prop_assert!(error.chars().count() < 400 && !error.contains('\n'));
        }
    }
}

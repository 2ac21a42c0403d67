//! The format, what is refused, how targets are found, and what is learned.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;
use crate::aimed::by_ref;

const LETTER: &str = r#"# A comment.
format = 1
app = "gedit"

[inputs.name]
default = "Ann"

[inputs.code]
type = "secret"

[[step]]
do = "click"
element = "Name"
role = "AXTextField"
text = "Dear {name} {{sic}}"
shows = '[AXTextField] "Name" value:"Dear {name} {{sic}}"'

[[step]]
do = "press_key"
keyName = "s"
modifierFlags = ["Control"]
absent = ["Unsaved"]

[[dialog]]
shows = "Tip of the Day"
do = "click"
element = "OK"

[end]
enabled = '[AXButton] "Send"'
"#;

fn values(recipe: &Recipe, given: &[(&str, &str)]) -> Result<Values, String> {
    let given = given
        .iter()
        .map(|(name, value)| ((*name).into(), (*value).into()));
    let values = Values::new(&recipe.inputs, &given.collect::<BTreeMap<_, _>>());
    values.map_err(|wrong| wrong.to_string())
}

#[test]
fn a_recipe_that_is_written_reads_back_the_same() {
    let recipe = read(LETTER).unwrap();
    assert_eq!(recipe.steps.len(), 2);
    assert_eq!(
        recipe.steps[0].at,
        Place {
            line: 11,
            column: 1
        }
    );
    let mut again = read(&recipe.write("again")).unwrap();
    for (step, was) in again
        .steps
        .iter_mut()
        .chain(&mut again.dialogs)
        .zip(recipe.steps.iter().chain(&recipe.dialogs))
    {
        (step.at, step.keys) = (was.at, was.keys.clone());
    }
    again.at = recipe.at;
    let inputs = again.inputs.iter_mut().zip(&recipe.inputs);
    inputs.for_each(|(input, was)| input.at = was.at);
    assert_eq!(again, recipe);
}

/// A text of [`LETTER`], what is there instead, and the error; `¶` is a new line.
const BAD: &str = r#"
format = 1|format = 2|2:1: it has format 2, and this version reads 1
format = 1¶||1:1: format is missing: write format = 1
app = |ap = |3:1: unknown key ap. Did you mean app?
app = "gedit"|app = "gedit|3:13: 
default = "Ann"|defualt = "Ann"|6:1: unknown key defualt. Did you mean default?
type = "secret"|type = "secret"¶default = "x"|10:1: a secret has no default: it would be in the file
type = "secret"|type = "password"|9:1: type is text, number or secret
element = "Name"|ref = "e42"|13:1: ref differs from run to run: name the target by element
Dear {name}|Dear {nmae}|15:1: {nmae} is no input of the recipe. A brace in a text is written twice: {{
{{sic}}"¶|{sic"¶|15:1: a { stands alone. A brace in a text is written twice
'[AXTextField] "Name" value|'[AXTextFeld] "Name" value|16:1: shows: [AXTextFeld]
shows = "Tip of the Day"¶||24:1: a dialog needs shows: what tells that it is there
enabled = '|lint = 'colour'¶enabled = '|30:1: lint is a list of labels and contrast
do = "press_key"|do = 7|19:1: do must be a text in quotes
do = "press_key"|do = " "|19:1: do is missing: what the step does, such as click
do = "press_key"¶||18:1: do is missing: what the step does, such as click
app = "gedit"¶||1:1: app is missing: the app that it opens
absent = ["Unsaved"]|absent = [7]|22:1: absent must be a text in quotes, or a list of them
absent = ["Unsaved"]|repeat = 101|22:1: repeat is from 1 to 100
absent = ["Unsaved"]|within = -1|22:1: within is from 0 to 300 s
absent = ["Unsaved"]|nth = "3 of 2"|22:1: nth must be such as "2 of 3"
absent = ["Unsaved"]|focus = "{who}"|22:1: focus: {who} is no input of the recipe
"#;

#[test]
fn an_error_in_a_recipe_names_its_line_and_column() {
    for bad in BAD.trim_start().lines() {
        let bad = bad.replace('¶', "\n");
        let [from, to, error] = bad.split('|').collect::<Vec<_>>()[..] else {
            panic!("{bad}");
        };
        assert!(LETTER.contains(from), "{from}");
        let wrong = read(&LETTER.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(wrong.starts_with(error), "{wrong}\nis not\n{error}");
    }
}

#[test]
fn inputs_are_filled_into_texts() {
    let recipe = read(LETTER).unwrap();
    let missing = values(&recipe, &[]).unwrap_err();
    assert_eq!(
        missing,
        "8:9: input code is missing: pass --set code=- to read it"
    );
    let unknown = values(&recipe, &[("nam", "x")]).unwrap_err();
    assert_eq!(unknown, "it has no input \"nam\". Did you mean \"name\"?");
    let values = values(&recipe, &[("name", "B\"o{b}"), ("code", "s3")]).unwrap();
    assert_eq!(values.fill("{name}, {{x}}").unwrap(), "B\"o{b}, {x}");
    assert!(values.is_secret("{code}") && !values.is_secret("{name}, {{x}}"));
    // A value with quotes and braces is a value, and no part of the line's grammar.
    let filled = recipe.fill(&values).unwrap();
    let shows = &filled.steps[0].checks.shows[0];
    let line = r#"[AXTextField] "Name" visible value:"Dear B\"o{b} {sic}" #e1"#;
    assert!(shows.is(&line.parse().unwrap()));
    assert!(!shows.is(&line.replace("sic", "sick").parse().unwrap()));
    assert_eq!(values.unfill("to B\"o{b} {}"), "to {name} {{}}");
}

#[test]
fn an_input_with_a_path_gives_its_file_name_and_stem() {
    let recipe = read(&LETTER.replace("Dear {name}", "Dear {name.stem}")).unwrap();
    let values = values(&recipe, &[("name", "/tmp/a.b.txt"), ("code", "x")]).unwrap();
    assert_eq!(
        values.fill("{name.name} {name.stem}").unwrap(),
        "a.b.txt a.b"
    );
    assert!(values.fill("{name.nme}").is_err());
}

#[test]
fn an_input_of_type_number_must_be_a_number() {
    let recipe = read(&LETTER.replace("type = \"secret\"", "type = \"number\"")).unwrap();
    let wrong = values(&recipe, &[("code", "seven")]).unwrap_err();
    assert_eq!(wrong, "8:9: input code must be a number, not \"seven\"");
}

const FORM: &str = r#" [AXWindow] "Form" x:0 y:0 w:400 h:300 visible #e1
 [AXStaticText] "Ann" x:0 y:0 w:9 h:9 visible #e2 in #e1
 [AXButton] "Delete" x:0 y:0 w:9 h:9 visible #e3 in #e1
 [AXStaticText] "Bob" x:0 y:0 w:9 h:9 visible #e4 in #e1
 [AXButton] "Delete" x:0 y:0 w:9 h:9 visible #e5 in #e1
 [AXButton] "Save" x:0 y:0 w:9 h:9 visible #e6 in #e1
 [AXButton] "Cancel" x:0 y:0 w:9 h:9 visible #e7 in #e1
"#;

fn found(target: &Target, form: &str) -> Result<(String, Way), usize> {
    let lines = Screen::parse(form).lines;
    find(target, &lines).map(|(at, way)| (lines[at].reference.unwrap().to_string(), way))
}

fn noted(reference: &str) -> Target {
    let lines = Screen::parse(FORM).lines;
    let at = lines
        .iter()
        .position(|l| l.reference.unwrap().to_string() == reference)
        .unwrap();
    let element = lines[at].text.as_ref().map(|text| text.shown.clone());
    let mut target = Target {
        element,
        ..Target::default()
    };
    target.note(&lines, at);
    target
}

#[test]
fn a_target_is_found_again_in_a_changed_screen_or_not_at_all() {
    let (save, second) = (noted("e6"), noted("e5"));
    assert_eq!(found(&save, FORM), Ok(("e6".into(), Way::Same)));
    assert_eq!(found(&second, FORM), Ok(("e5".into(), Way::Same)));
    let without = |gone: &str| -> String {
        FORM.lines()
            .filter(|l| !l.contains(gone))
            .flat_map(|l| [l, "\n"])
            .collect()
    };
    // Moved: other neighbours. Renamed: told by its place. Punctuation alone: its label.
    let moved = without("#e7");
    assert_eq!(found(&save, &moved), Ok(("e6".into(), Way::Moved)));
    let renamed = FORM.replace("\"Save\"", "\"Store\"");
    assert_eq!(found(&save, &renamed), Ok(("e6".into(), Way::Place)));
    let label = FORM.replace("\"Save\"", "\"Save:\"");
    assert_eq!(found(&save, &label), Ok(("e6".into(), Way::Label)));
    let opens = FORM.replace("\"Save\"", "\"Save…\"");
    assert_eq!(found(&save, &opens), Ok(("e6".into(), Way::Place)));
    let link = FORM.replace("[AXButton] \"Save\"", "[AXLink] \"Save\"");
    assert_eq!(found(&save, &link), Ok(("e6".into(), Way::Label)));
    assert_eq!(found(&save, &link.replace("Cancel", "Back")), Err(0));
    // Nothing of what was beside it is there any more.
    let other = without("#e7").replace("Delete", "Remove");
    assert_eq!(found(&save, &other), Ok(("e6".into(), Way::Elsewhere)));
    // A longer text is another one.
    assert_eq!(found(&save, &without("#e6")), Err(0));
    let other = without("#e6").replace("\"Cancel\"", "\"Save As\"");
    assert_eq!(found(&save, &other), Err(0));
    // One of several that is not to be told from the others any more.
    let mut second = second;
    second.nth = Some("2 of 2".into());
    let others = without("#e4").replace("\"Save\"", "\"Store\"");
    assert_eq!(found(&second, &others), Err(2));
    let next = FORM.replace("Bob", "Eve").replace("Ann", "Bob");
    assert_eq!(found(&second, &next), Err(2));
    let third = format!("{FORM} [AXButton] \"Delete\" x:0 y:0 w:9 h:9 visible #e8\n")
        .replace("\"Bob\"", "\"Eve\"");
    assert_eq!(found(&second, &third), Err(3));
    assert_eq!(found(&second, &without("#e5")), Err(1));
}

/// A button in a row of a table is its row's.
#[test]
fn the_same_button_in_another_row_is_not_the_target() {
    let table = r#" [AXTable] x:0 y:0 w:9 h:9 visible #e1
 [AXRow] x:0 y:0 w:9 h:9 visible #e2 in #e1
 [AXCell] "Ann" x:0 y:0 w:9 h:9 visible row:1 col:1 #e3 in #e2
 [AXCell] x:0 y:0 w:9 h:9 visible row:1 col:2 #e4 in #e2
 [AXButton] "Delete" x:0 y:0 w:9 h:9 visible #e5 in #e4
 [AXStaticText] "1 row" x:0 y:0 w:9 h:9 visible #e6
"#;
    let lines = Screen::parse(table).lines;
    let mut delete = Target {
        element: Some("Delete".into()),
        ..Target::default()
    };
    delete.note(&lines, 4);
    assert_eq!(
        (delete.after.as_deref(), delete.before.as_deref()),
        (Some("Ann"), None)
    );
    let rows = table.replace("1 row", "2 rows");
    assert_eq!(found(&delete, &rows), Ok(("e5".into(), Way::Same)));
    let other = table.replace("Ann", "Bob");
    assert_eq!(found(&delete, &other), Ok(("e5".into(), Way::Elsewhere)));
}

fn link(tool: &str, mut arguments: Value, screen: &str, answer: &str) -> Link {
    Link {
        tool: tool.into(),
        arguments: std::mem::take(arguments.as_object_mut().unwrap()),
        worked: true,
        pid: Some(7),
        app: "Form".into(),
        answer: Some(answer.into()),
        screen: Some(Screen::parse(screen)),
        words: tool.into(),
        ..Link::default()
    }
}

fn opened(app: &str, screen: &str) -> Link {
    link(
        "open_application_and_traverse",
        json!({"identifier": app}),
        screen,
        "",
    )
}

fn run() -> Vec<Link> {
    let saved = "# diff: +2 added, -0 removed, ~0 modified\n\
        + [AXStaticText] \"Saved\" x:1 y:2 w:3 h:4 visible #e9\n\
        + [AXStaticText] \"at 10:42\" x:1 y:2 w:3 h:4 visible #e10\n# tree:\n";
    let menu = "# diff: +1 added, -0 removed, ~0 modified\n\
        + [AXMenuItem] \"Cut\" x:1 y:2 w:3 h:4 visible #e11\n# tree:\n";
    let gone = "# diff: +0 added, -1 removed, ~0 modified\n- [AXMenuItem] \"Cut\" x:1 y:2 w:3 h:4\n# tree:\n";
    let sent = format!(
        "# diff: +1 added, -0 removed, ~0 modified\n\
        + [AXHeading] \"Sent\" x:1 y:2 w:3 h:4 visible #e12\n# tree:\n{FORM} \
        [AXStaticText] \"Saved\" x:1 y:2 w:3 h:4 visible #e11\n"
    );
    let call = |tool: &str, mut more: Value, diff: &str, answer: &str| {
        more["pid"] = 7.into();
        link(
            &format!("{tool}_and_traverse"),
            more,
            &format!("{diff}{FORM}"),
            answer,
        )
    };
    let changes = |tool, more, diff| call(tool, more, diff, "effect: changed");
    let mut failed = call("press_ax", json!({"ref": "e7"}), "", "");
    failed.worked = false;
    vec![
        opened("form", FORM),
        link("refresh_traversal", json!({"pid": 7}), FORM, ""),
        failed,
        changes("click", json!({"ref": "e7", "rightClick": true}), menu),
        changes("press_key", json!({"keyName": "Escape"}), gone),
        call("click", json!({"ref": "e2"}), "", "effect: nothing"),
        changes("type", json!({"text": "for Ann {Lee}"}), ""),
        changes("type", json!({"text": "•••"}), ""),
        changes(
            "click",
            json!({"x": 2, "y": 2, "width": 4, "height": 4, "element": null}),
            "",
        ),
        changes("click", json!({"ref": "e5"}), saved),
        link(
            "wait_for_and_traverse",
            json!({"element": "Sent"}),
            &sent,
            "",
        ),
    ]
}

/// OK closes a dialog and shows what it made; Escape then closes the window that shows it.
#[test]
fn a_button_pressed_before_escape_stays_in_the_learned_recipe() {
    let [made, gone] = ["+ ", "- "].map(|sign| {
        let shown = if sign == "+ " { " visible #e9" } else { "" };
        format!("{sign}[AXStaticText] \"Made\" x:1 y:2 w:3 h:4{shown}\n")
    });
    let ok = format!("# diff: +1\n{made}- [AXWindow] \"Rules\" x:1 y:2 w:3 h:4\n# tree:\n{FORM}");
    let escape = format!("# diff: -1\n{gone}# tree:\n{FORM}");
    let links = [
        opened("form", FORM),
        link(
            "click_and_traverse",
            json!({"ref": "e6"}),
            &ok,
            "effect: changed",
        ),
        link(
            "press_key_and_traverse",
            json!({"keyName": "Escape"}),
            &escape,
            "",
        ),
    ];
    let recipe = Learn::default().recipe(&links).unwrap();
    assert_eq!(recipe.steps.len(), 2);
    assert_eq!(recipe.steps[0].checks.shows.len(), 1);
}

#[test]
fn a_learned_recipe_has_only_the_useful_steps_of_the_run() {
    let learn = Learn {
        inputs: vec![("who".into(), "Ann {Lee}".into())],
        ..Learn::default()
    };
    let recipe = learn.recipe(&run()).unwrap();
    let steps: Vec<String> = recipe.steps.iter().map(Step::words).collect();
    assert_eq!(
        steps,
        [
            "type \"for {who}\"",
            "type \"{password}\"",
            "click \"Ann\"",
            "click \"Delete\""
        ]
    );
    assert_eq!(recipe.app, "form");
    let last = &recipe.steps[3];
    assert_eq!(last.target.as_ref().unwrap().nth.as_deref(), Some("2 of 2"));
    let shows: Vec<String> = last.checks.shows.iter().map(Check::written).collect();
    assert_eq!(shows, ["[AXStaticText] \"Saved\"", "[AXHeading] \"Sent\""]);
    let password = recipe
        .inputs
        .iter()
        .find(|input| input.name == "password")
        .unwrap();
    assert_eq!((password.kind, &password.default), (Kind::Secret, &None));
    let file = recipe.write("a test");
    assert!(!file.contains("•••") && !file.contains("pid"), "{file}");
    read(&file).unwrap();
    // As it was: with detours, and all that showed.
    let literal = Learn {
        literal: true,
        ..Learn::default()
    }
    .recipe(&run())
    .unwrap();
    assert_eq!(literal.steps.len(), 7);
    let unknown = Learn {
        inputs: vec![("x".into(), "zzz".into())],
        ..Learn::default()
    };
    assert!(unknown.recipe(&run()).unwrap_err().contains("input x"));
}

#[test]
fn a_target_is_replaced_in_a_file_whose_comments_stay() {
    let mut edit = Edit::new(LETTER).unwrap();
    let target = Target {
        element: Some("Full name".into()),
        ..Target::default()
    };
    edit.target(0, &target);
    let text = edit.text();
    assert!(
        text.starts_with("# A comment.\n") && text.contains("element = \"Full name\""),
        "{text}"
    );
    assert!(!text.contains("role = "), "{text}");
    read(&text).unwrap();
}

/// A drag's end is a target too: in the file, and of a call that names it by its ref, a part of its
/// text or a point.
#[test]
fn the_end_of_a_drag_is_read_and_written_as_a_target() {
    let step =
        "do = \"drag\"\nelement = \"Save\"\nto = { element = \"Bob\", role = \"AXStaticText\" }";
    let file = format!("format = 1\napp = \"a\"\n[[step]]\n{step}\n");
    let recipe = read(&file).unwrap();
    let to = recipe.steps[0].to.as_ref().unwrap();
    assert_eq!(to.element.as_deref(), Some("Bob"));
    let again = read(&recipe.write("again")).unwrap();
    assert_eq!(again.steps[0].to, recipe.steps[0].to);
    assert_eq!(recipe.steps[0].words(), "drag \"Save\" \"Bob\"");
    let wrong = |to: &str| {
        read(&file.replace("element = \"Bob\"", to))
            .unwrap_err()
            .to_string()
    };
    assert!(wrong("elemnt = \"Bob\"").starts_with("6:8: unknown key elemnt"));
    let refused = read(&file.replace("to = {", "toX = 7 #")).unwrap_err();
    let why = refused.to_string();
    assert!(why.starts_with("6:1: toX differs"), "{why}");
    let ends = [
        json!({"pid": 7, "ref": "e6", "toRef": "e4"}),
        json!({"pid": 7, "ref": "e6", "toElement": "Bob", "toRole": "AXStaticText"}),
    ];
    for end in ends {
        let form = FORM.replace("\"Bob\" x:0", "\"Bob\" x:50");
        let moved = format!(
            "# diff: +0 added, -1 removed, ~0 modified\n- [AXImage] \"x\"\n# tree:\n{form}"
        );
        let links = [
            opened("a", &form),
            link("drag_and_traverse", end, &moved, "effect: changed"),
        ];
        let learned = Learn::default().recipe(&links).unwrap();
        let to = learned.steps[0].to.as_ref().unwrap();
        assert_eq!(to.element.as_deref(), Some("Bob"));
        assert!(learned.steps[0].arguments.is_empty());
    }
}

#[test]
fn moved_texts_are_distinguished_from_a_running_clock() {
    let screen = |text: &str| Screen::parse(text);
    let moved = |now: &str| screen(now).moved_since(&screen(FORM));
    assert!(!moved(FORM) && !moved(&FORM.replace("visible #e2", "visible selected #e2")));
    let swapped = FORM
        .replace("Ann", "X")
        .replace("Bob", "Ann")
        .replace("\"X\"", "\"Bob\"");
    assert!(moved(&swapped));
    let clock = |time: &str| FORM.replace("Form", time);
    assert!(!screen(&clock("10:42")).moved_since(&screen(&clock("10:43"))));
}

/// A `.qm` file of one message.
#[test]
fn catalogues_of_qt_are_read() {
    let part = |tag: u8, text: &[u8]| {
        let length = (text.len() as u32).to_be_bytes();
        [&[tag][..], &length, text].concat()
    };
    let shown: Vec<u8> = "&Öffnen"
        .encode_utf16()
        .flat_map(u16::to_be_bytes)
        .collect();
    let parts = [
        part(3, &shown),
        part(8, b""),
        part(6, b"&Open"),
        part(7, b"Menu"),
        vec![1],
    ];
    let magic = 0x3cb8_6418_caef_9c95_cd21_1cbf_60a1_bddd_u128.to_be_bytes();
    let qm = [&magic[..], &part(0xa7, b"de"), &part(0x69, &parts.concat())].concat();
    let all = messages(&qm);
    assert_eq!(all.len(), 1);
    assert_eq!(all["Menu\u{4}&Open"], "&Öffnen");
    for short in 0..qm.len() {
        messages(&qm[..short]);
    }
    let files = |all: &[&str]| all.iter().map(PathBuf::from).collect::<Vec<_>>();
    assert_eq!(language(&files(&["/t/keepassxc_pt_BR.qm"])), "pt_BR");
    assert_eq!(
        language(&files(&["/l/de/LC_MESSAGES/kconfig5_qt.qm"])),
        "de"
    );
    assert_eq!(language(&files(&["/t/plain.qm"])), "en");
}

/// A catalogue of these messages.
fn mo(messages: &[(&str, &str)]) -> Vec<u8> {
    let ids = messages.iter().map(|(id, _)| *id);
    let all: Vec<&str> = ids.chain(messages.iter().map(|(_, text)| *text)).collect();
    let (count, start) = (messages.len() as u32, 28 + 16 * messages.len());
    let mut words = vec![0x9504_12de, 0, count, 28, 28 + 8 * count, 0, 0];
    let mut texts = Vec::new();
    for text in all {
        words.extend([text.len() as u32, (start + texts.len()) as u32]);
        texts.extend(text.as_bytes());
    }
    let words = words.into_iter().flat_map(u32::to_le_bytes);
    words.chain(texts).collect()
}

#[test]
fn texts_in_another_language_are_translated_to_those_of_the_recipe() {
    let german = mo(&[
        ("", "Content-Type: text/plain"),
        ("Menu\u{4}_Open", "Ö_ffnen"),
        ("State\u{4}Open", "Offen"),
        ("Save “%s”?", "„%s“ speichern?"),
        ("_Close", "S_chließen"),
        ("_Quit", "S_chließen"),
        ("Untitled", "Unbenannt"),
        ("Unnamed", "Unbenannt"),
    ]);
    let german = messages(&german);
    assert_eq!(german.len(), 7);
    assert!(messages(&mo(&[("", "")])[..20]).is_empty() && messages(b"no catalogue").is_empty());
    let step = |element: &str| format!("[[step]]\ndo = \"click\"\nelement = {element:?}\n");
    let recipe = |all: &[&str]| {
        let steps: String = all.iter().map(|text| step(text)).collect();
        read(&format!("format = 1\napp = \"a\"\n{steps}")).unwrap()
    };
    let shows = |words: &Words, text: &str| {
        let mut screen = Screen::parse(&format!(" [AXButton] {text:?} visible #e1"));
        words.translate(&mut screen);
        screen.lines[0].text.as_ref().unwrap().shown.clone()
    };
    let none = Messages::new();
    let words = Words::new(&recipe(&["Open", "Close"]), &none, &german);
    assert_eq!(shows(&words, "Öffnen"), "Open");
    assert_eq!(shows(&words, "Offen"), "Open");
    assert_eq!(shows(&words, "Schließen"), "Close");
    assert_eq!(
        (words.shown("Close"), words.shown("Open")),
        ("Schließen", "Open")
    );
    // Which of the two is meant is not known.
    let words = Words::new(&recipe(&["Quit", "Close"]), &none, &german);
    assert_eq!(shows(&words, "Schließen"), "Schließen");
    let words = Words::new(&recipe(&["Schließen"]), &german, &none);
    assert_eq!(
        (shows(&words, "Close"), shows(&words, "Quit")),
        ("Schließen".into(), "Schließen".into())
    );
    let words = Words::new(&recipe(&["Close a - Editor"]), &none, &german);
    assert_eq!(shows(&words, "Schließen a - Editor"), "Close a - Editor");
    let words = Words::new(&recipe(&["*Unbenannt 1"]), &german, &none);
    assert_eq!(shows(&words, "*Untitled 1"), "*Unbenannt 1");
    assert_eq!(shows(&words, "*Unnamed 1"), "*Unbenannt 1");
    let words = Words::new(&recipe(&["Save “a”?"]), &none, &german);
    assert_eq!(shows(&words, "„a“ speichern?"), "Save “a”?");
}

#[test]
fn of_the_elements_that_events_name_at_most_one_counts_as_pressed() {
    let form = r#" [AXTextField] "Name" x:0 y:0 w:9 h:9 visible #e2
 [AXList] "Towns" x:0 y:0 w:9 h:9 visible #e3
 [AXRow] "Bergen" x:0 y:0 w:9 h:9 visible #e4 in #e3
 [AXRow] "Oslo" x:0 y:0 w:9 h:9 visible #e5 in #e3
 [AXCheckBox] "Gift" x:0 y:0 w:9 h:9 visible #e6
 [AXMenu] "File" x:0 y:0 w:9 h:9 visible #e7
 [AXMenuItem] "Close" x:0 y:0 w:9 h:9 visible #e8 in #e7
 [AXComboBox] "Size" x:0 y:0 w:9 h:9 visible #e9
 [AXMenuItem] "Small" #e10 in #e9
 [AXMenuItem] "Behind" #e11 in #e3
"#;
    let lines = Screen::parse(form).lines;
    let named = |before: &str, during: &str, on: &str, off: &str| {
        let of = |refs: &str| refs.split_whitespace().map(|r| by_ref(&lines, r)).collect();
        let line = pressed(&lines, [before, during, on, off].map(of));
        line.map(|line| line.reference.unwrap().to_string())
    };
    let is = |found: Option<String>, wanted: &str| assert_eq!(found.as_deref(), Some(wanted));
    is(named("", "e2", "", ""), "e2");
    // The window's former focus comes first.
    is(named("", "e2 e6", "e6", ""), "e6");
    // A list has the focus, and a row of it is selected. Of two rows neither is.
    is(named("", "e3", "e5", "e4"), "e5");
    is(named("", "e3", "e4 e5", ""), "e3");
    // What a button has checked is not what was pressed.
    is(named("", "e2", "e6", ""), "e2");
    is(named("e2", "", "", "e6 e6"), "e6");
    // An item of an open menu, while the button behind it gets the focus back.
    is(named("e8", "e2", "", "e8 e7"), "e8");
    // What is in a closed list is about what opens it.
    let of = |r: &str| told(&lines, by_ref(&lines, r)?.reference);
    is(
        of("e10").map(|line| line.reference.unwrap().to_string()),
        "e9",
    );
    assert_eq!([of("e11").is_none(), of("e2").is_some()], [true; 2]);
    // A part of a screen that has come since.
    assert_eq!(named("", "e2 e99", "", ""), None);
    assert_eq!(named("", "", "e6 e99", ""), None);
    for nothing in [
        named("e2", "", "", ""),
        named("", "", "e4 e6", "e5"),
        named("", "", "", ""),
    ] {
        assert_eq!(nothing, None);
    }
}

#[test]
fn a_line_as_a_check_distinguishes_upper_and_lower_case() {
    let line = r#"[AXGroup] "Dear Jon Oneil," visible #e1"#.parse().unwrap();
    let is = |check: &str| Check::parse(check).unwrap().is(&line);
    assert!(is("[AXGroup] \"Dear Jon Oneil,\"") && is("[AXGroup] \"Dear **\""));
    assert!(!is("[AXGroup] \"Dear Jon ONeil,\""));
    assert!(is("dear jon oneil,"));
}

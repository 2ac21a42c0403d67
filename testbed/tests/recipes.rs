//! Recipes: learned from an agent's run, done again without it, and never with a wrong effect.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use deskline_testbed::{Bed, Client, Toolkit, deskline, has};
use serde_json::{Value, json};

/// The form, where it saves, and the recipes about it.
struct Job {
    folder: tempfile::TempDir,
}

impl Job {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn app(&self) -> String {
        let app = Path::new(env!("CARGO_MANIFEST_DIR")).join("apps/form.py");
        let (out, changes) = (self.path("out"), self.path("changes"));
        format!(
            "/usr/bin/python3 {} {} {}",
            app.display(),
            out.display(),
            changes.display()
        )
    }

    fn recipe(&self) -> PathBuf {
        self.path("recipes/order.recipe.toml")
    }

    /// What the app has saved since the last time.
    fn saved(&self) -> Vec<String> {
        let saved = std::fs::read_to_string(self.path("out")).unwrap_or_default();
        let _ = std::fs::remove_file(self.path("out"));
        saved.lines().map(str::to_owned).collect()
    }

    fn change(&self, how: &str) {
        std::fs::write(self.path("changes"), how).unwrap();
    }

    fn deskline(&self, args: &[&str]) -> (Output, String) {
        let output = Command::new(deskline())
            .args(["--dir", self.path("journal").to_str().unwrap()])
            .args(["--recipes", self.path("recipes").to_str().unwrap()])
            .args(args)
            .env_remove("DESKLINE_DIR")
            .output()
            .unwrap();
        let mut printed = String::from_utf8_lossy(&output.stdout).into_owned();
        printed += &String::from_utf8_lossy(&output.stderr);
        (output, printed)
    }

    fn run(&self, more: &[&str]) -> (Output, String) {
        let recipe = self.recipe();
        let args = ["run", recipe.to_str().unwrap(), "--desktop", "private"];
        self.deskline(&[&args, more].concat())
    }

    /// The calls of an agent with a detour, a failure, reads and waits.
    fn done_by_an_agent(&self, server: &Client) {
        let pid = server.open(&self.app()).ok().pid();
        let call = |tool: &str, mut more: Value| {
            more["pid"] = pid.into();
            server.call(&format!("{tool}_and_traverse"), more)
        };
        let click = |more: Value| call("click", more).ok();
        let first = click(json!({"element": "Name", "role": "AXTextField", "text": "Ann Lee"}));
        let email = first.line_of("AXTextField", "Email").reference.unwrap();
        call("click", json!({"element": "Send", "role": "AXButton"}));
        click(json!({"ref": email.to_string(), "text": "ann@example.org"}));
        server.refresh(pid);
        click(json!({"element": "Country", "role": "AXComboBox", "choose": "Peru"}));
        click(json!({"element": "Notes", "rightClick": true}));
        call("press_key", json!({"keyName": "Escape"}));
        let news = server
            .refresh(pid)
            .line_of("AXCheckBox", "Newsletter")
            .extents
            .unwrap();
        click(json!({"x": news.x, "y": news.y, "width": news.w, "height": news.h}));
        let steps = json!([
            {"do": "click", "element": "Notes"},
            {"do": "type", "text": "ring twice"},
            {"do": "press_ax", "element": "Options", "role": "AXButton"},
            {"do": "wait_for", "element": "Express"},
            {"do": "click", "element": "Express"},
            {"do": "click", "element": "Apply", "role": "AXButton"},
        ]);
        call("chain", json!({"steps": steps})).ok();
        click(json!({"element": "Receipt", "role": "AXCheckBox"}));
        click(json!({"element": "Check", "role": "AXButton"}));
        click(json!({"element": "Save", "role": "AXButton"}));
    }

    /// The recipe of that run.
    fn learned() -> Self {
        let job = Self::new();
        let bed = Bed::new();
        job.done_by_an_agent(&bed.server(&[]));
        assert_eq!(job.saved(), [SAVED]);
        let (run, out) = (
            bed.journal(),
            ["learn", "--name", "order", "--input", "name=Ann Lee"],
        );
        let args = [
            &out[..],
            &["--input", "mail=ann@example.org", run.to_str().unwrap()],
        ]
        .concat();
        let (output, printed) = job.deskline(&args);
        assert!(output.status.success(), "{printed}");
        assert_eq!(job.saved(), [SAVED], "{printed}");
        job
    }
}

const SAVED: &str = "Ann Lee|ann@example.org|Peru|ring twice|Newsletter|Express";

#[test]
fn a_run_is_learned_as_a_recipe_and_done_again() {
    let job = Job::learned();
    let recipe = std::fs::read_to_string(job.recipe()).unwrap();
    println!("{recipe}");
    assert_eq!(recipe.matches("[[step]]").count(), 12, "{recipe}");
    for gone in ["Send", "Escape", "wait_for", "x = ", "ref = ", "pid"] {
        assert!(!recipe.contains(gone), "{gone} in {recipe}");
    }
    has(&recipe, "Saved {name}");
    has(&recipe, "focus = '[AXTextField] \"Notes\"'");
    let times = std::env::var("DESKLINE_TIMES").map_or(4, |times| times.parse().unwrap());
    for _ in 0..times {
        let (output, printed) = job.run(&["--set", "name=Bob {x}", "--set", "mail=b@c"]);
        assert!(output.status.success(), "{printed}");
        assert_eq!(
            job.saved(),
            ["Bob {x}|b@c|Peru|ring twice|Newsletter|Express"],
            "{printed}"
        );
    }
}

/// Each change is told or healed, and nothing but the job is ever done.
#[test]
fn a_change_of_the_app_is_reported_or_healed() {
    let job = Job::learned();
    for (change, works, tells) in [
        ("moved", true, "found moved"),
        ("large", true, "done"),
        ("theme", true, "done"),
        ("font", true, "done"),
        // A click would take back the wanted state.
        ("ticked", true, "found already in the wanted state"),
        ("slow", true, "done"),
        ("renamed", false, "pass --heal=\"Keep\""),
        ("gone", false, "[AXButton] \"Save\" is not there"),
        ("several", true, "done"),
        ("dialog", false, "a dialog is in front: \"Tip of the day\""),
        (
            "modeless",
            false,
            "a dialog is in front: \"Tip of the day\"",
        ),
        ("delayed", false, "a dialog is in front: \"Tip of the day\""),
        ("swapped", false, "[AXButton] \"Remove\" is in its place"),
    ] {
        job.change(change);
        let (output, printed) = job.run(&[]);
        assert_eq!(output.status.success(), works, "{change}: {printed}");
        has(&printed, tells);
        let saved = job.saved();
        assert_eq!(
            saved,
            if works { vec![SAVED] } else { vec![] },
            "{change}: {printed}"
        );
    }
    // What was Save deletes now: no wish to heal takes it without its name.
    for (change, heal) in [
        ("swapped", "--heal"),
        ("swapped", "--heal=Keep"),
        ("renamed", "--heal"),
    ] {
        job.change(change);
        let (output, printed) = job.run(&[heal]);
        assert!(!output.status.success(), "{change}: {printed}");
        assert!(job.saved().is_empty(), "{change}: {printed}");
    }
    let (output, printed) = job.run(&["--heal=Keep"]);
    assert!(output.status.success(), "{printed}");
    has(&printed, "healed");
    job.saved();
    let (output, printed) = job.run(&[]);
    assert!(output.status.success(), "{printed}");
    assert_eq!(job.saved(), [SAVED]);
}

#[test]
fn a_recipe_runs_for_each_row_of_a_table_and_is_resumed() {
    let job = Job::learned();
    let rows: Vec<(String, String)> = (1..=10)
        .map(|n| (format!("Row {n}"), format!("r{n}@x")))
        .collect();
    let mut table = vec!["name,mail".to_owned()];
    table.extend(rows.iter().map(|(name, mail)| format!("{name},{mail}")));
    std::fs::write(job.path("rows.csv"), table.join("\n")).unwrap();
    let rows_file = job.path("rows.csv");
    let from = ["--from", rows_file.to_str().unwrap()];
    let expected: Vec<String> = rows
        .iter()
        .map(|(name, mail)| format!("{name}|{mail}|Peru|ring twice|Newsletter|Express"))
        .collect();
    // It stops in the first row, and nothing is saved; resumed, all are.
    job.change("gone");
    let (output, printed) = job.run(&from);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(job.saved().is_empty(), "{printed}");
    job.change("");
    let report = job.path("report.xml");
    let file = report.to_str().unwrap();
    let more = ["--resume", "--jobs", "2", "--report", file];
    let (output, printed) = job.run(&[&from[..], &more].concat());
    assert!(output.status.success(), "{printed}");
    let mut saved = job.saved();
    saved.sort_by_key(|line| line.split('|').next().unwrap()[4..].parse::<u32>().unwrap());
    assert_eq!(saved, expected);
    let report = std::fs::read_to_string(report).unwrap();
    has(&report, "tests=\"10\" failures=\"0\"");
    let (output, printed) = job.run(&["--resume"]);
    assert!(!output.status.success(), "{printed}");
    has(&printed, "nothing to resume");
}

/// On the person's own desktop, where their app has the keyboard. What was done is not done again.
#[test]
fn a_stopped_recipe_goes_on_at_the_step_that_was_mended() {
    let (job, bed) = (Job::new(), Bed::new());
    let persons = bed.widgets(Toolkit::Gtk4);
    persons.bring_to_front();
    let file = job.path("note.recipe.toml");
    let run = |element: &str, more: &[&str]| {
        let text = format!(
            "format = 1\napp = {:?}\n[[step]]\ndo = \"click\"\nelement = \"Name\"\ntext = \"Ann\"\n\
            [[step]]\ndo = \"click\"\nelement = {element:?}\nrole = \"AXButton\"\n",
            job.app()
        );
        std::fs::write(&file, text).unwrap();
        let mut run = bed.command(deskline());
        run.arg("run").arg(&file).args(more).output().unwrap()
    };
    let stopped = run("Sav", &[]);
    has(String::from_utf8_lossy(&stopped.stdout), "is not there");
    assert!(job.saved().is_empty(), "{stopped:?}");
    let done = run("Save", &["--resume"]);
    assert!(done.status.success(), "{done:?}");
    assert_eq!(job.saved(), ["Ann||||Receipt"], "{done:?}");
    assert!(!persons.log().iter().any(|line| line.contains("Ann")));
}

#[test]
fn an_agent_calls_a_recipe_as_a_tool() {
    let job = Job::learned();
    let bed = Bed::new();
    let recipes = job.path("recipes");
    let server = bed.server(&["--recipes", recipes.to_str().unwrap()]);
    let tools = server.tools();
    let tool = tools
        .iter()
        .find(|tool| tool.name == "recipe_order")
        .unwrap();
    let schema = Value::Object(tool.input_schema.as_ref().clone());
    assert_eq!(schema["properties"]["name"]["type"], "string");
    let answer = server.call("recipe_order", json!({"name": "Eve"})).ok();
    has(&answer.text, "done: 12 of 12 steps");
    assert_eq!(job.saved(), [SAVED.replace("Ann Lee", "Eve")]);
    let wrong = server.call("recipe_order", json!({"nmae": "Eve"}));
    assert!(
        wrong.is_error && wrong.text.contains("Did you mean \"name\"?"),
        "{wrong}"
    );
    drop(server);
    let bed = Bed::new();
    job.change("gone");
    let server = bed.server(&["--recipes", recipes.to_str().unwrap()]);
    let stopped = server.call("recipe_order", json!({"name": "Eve"}));
    assert!(stopped.is_error, "{stopped}");
    has(&stopped.text, "error: step 12");
    has(&stopped.text, "next steps:\n  click \"Save\"");
    assert!(job.saved().is_empty());
    // The agent does the step by hand, or goes on where it stopped.
    let again = server.call(
        "recipe_order",
        json!({"name": "Eve", "from": 12, "pid": stopped.pid()}),
    );
    assert!(again.is_error, "{again}");
    has(&again.text, "done: 11 of 12 steps");
    let off = bed.server(&["--recipes", "off"]);
    assert!(
        off.tools()
            .iter()
            .all(|tool| !tool.name.starts_with("recipe_"))
    );
}

#[test]
fn a_folder_of_recipes_is_run_as_a_test() {
    let job = Job::learned();
    let recipes = job.path("recipes");
    let good = std::fs::read_to_string(job.recipe()).unwrap();
    let bad = format!("{good}\n[end]\nshows = 'Saved nobody'\nwithin = 1\n");
    std::fs::write(recipes.join("wrong.recipe.toml"), bad).unwrap();
    let focus = "\n[end]\nshows = '[AXTextField] \"Notes\" value:\"ring twice\"'\nabsent = 'Ready'\n\
        enabled = '[AXButton] \"Save\"'\n";
    std::fs::write(job.recipe(), good + focus).unwrap();
    let report = job.path("report.json");
    let file = report.to_str().unwrap();
    let args = ["test", recipes.to_str().unwrap(), "--report", file];
    let (output, printed) = job.deskline(&args);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    has(&printed, "order  done");
    has(&printed, "expected: shows Saved nobody");
    let report: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    assert_eq!(
        (&report[0]["ok"], &report[0]["of"]),
        (&true.into(), &12.into())
    );
    let stopped = &report[1]["stopped"];
    assert_eq!(stopped["expected"][0], "shows Saved nobody");
    assert!(Path::new(stopped["picture"].as_str().unwrap()).exists());
    assert_eq!(job.saved().len(), 2);

    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let pytest = Command::new("/usr/bin/python3")
        .args(["-B", "-m", "pytest", "-p", "pytest_recipes"])
        .args(["-p", "no:cacheprovider", recipes.to_str().unwrap()])
        .env("PYTHONPATH", examples)
        .env("DESKLINE", deskline())
        .env("DESKLINE_DIR", job.path("journal"))
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&pytest.stdout);
    has(&printed, "1 failed, 1 passed");
    has(&printed, "expected: shows Saved nobody");
    assert_eq!(job.saved().len(), 2);
}

/// What shows otherwise is written into the recipe; what its lint asks for is not.
#[test]
fn the_checks_of_a_recipe_are_updated_by_what_the_app_shows() {
    let job = Job::learned();
    let good = std::fs::read_to_string(job.recipe()).unwrap();
    assert!(
        good.contains("\nshows = '[AXStaticText] \"Saved {name}\"'"),
        "{good}"
    );
    let old = good.replace("\"Saved {name}\"", "\"Stored {name}\"");
    std::fs::write(job.recipe(), format!("# Mine.\n{old}")).unwrap();
    let folder = job.path("recipes");
    let test = |more: &[&str]| job.deskline(&[&["test", folder.to_str().unwrap()], more].concat());
    let (output, printed) = test(&[]);
    assert!(!output.status.success(), "{printed}");
    has(
        &printed,
        "expected: shows [AXStaticText] \"Stored Ann Lee\"",
    );
    let (output, printed) = test(&["--update"]);
    assert!(output.status.success(), "{printed}");
    has(&printed, "updated 1 steps");
    let new = std::fs::read_to_string(job.recipe()).unwrap();
    assert_eq!(new.trim(), format!("# Mine.\n{good}").trim());
    let (output, printed) = test(&[]);
    assert!(output.status.success(), "{printed}");
    // The form's combo box has no label of its own for a screen reader.
    std::fs::write(
        job.recipe(),
        good.clone() + "\n[end]\nlint = [\"labels\", \"contrast\"]\n",
    )
    .unwrap();
    let (output, printed) = test(&["--update"]);
    println!("{printed}");
    assert!(output.status.success(), "{printed}");
    job.saved();
}

/// Wrong inputs: a text of the recipe, what is there instead, the table, the arguments, the error.
const WRONG: &str = r#"
= 1|= 2||--set name=Ann|toml:1:1: it has format 2, and this version reads 1
element|elemnet||--set name=Ann|toml:8:1: unknown argument "elemnet" for click
element|foucs||--set name=Ann|toml:8:1: unknown argument "foucs" for click. Did you mean "focus"?
[inputs|[imputs||--set name=Ann|toml:4:2: unknown key imputs. Did you mean inputs?
python3|python33||--set name=Ann|in line 2, column 1 of the recipe
||a,b;c,d|--from T|it has no input "a". Did you mean "name"?
||name,a;Ann|--from T|csv:2:1: it has 1 columns, and the first line has 2
||name|--from T|csv:1:1: it has no row
|||--jobs 1|toml:4:9: input name is missing: pass --set name=VALUE
|||--jobs 0|0 is not in 1..
|||--report a.pdf|it must end in .json, .xml or .html
"#;

/// Each is refused with its place, and nothing is started.
#[test]
fn wrong_input_is_refused_with_its_place() {
    let job = Job::new();
    let (file, table) = (job.path("note.recipe.toml"), job.path("rows.csv"));
    let run = |recipe: &str, args: &str| {
        std::fs::write(&file, recipe).unwrap();
        let args = args.replace('T', table.to_str().unwrap());
        let own = ["run", file.to_str().unwrap(), "--desktop", "private"];
        job.deskline(&own.into_iter().chain(args.split(' ')).collect::<Vec<_>>())
    };
    let note = |app: &str| {
        format!(
            "format = 1\napp = {app:?}\n\n[inputs.name]\n\n[[step]]\ndo = \"click\"\n\
            element = \"Name\"\ntext = \"{{name}}\"\n"
        )
    };
    for wrong in WRONG.trim().lines() {
        let [from, to, rows, args, error] = wrong.split('|').collect::<Vec<_>>()[..] else {
            panic!("{wrong}");
        };
        std::fs::write(&table, rows.replace(';', "\n")).unwrap();
        let (output, printed) = run(&note(&job.app()).replacen(from, to, 1), args);
        assert!(
            !output.status.success() && !printed.contains("  done"),
            "{wrong}: {printed}"
        );
        has(&printed, error);
    }
    // A text of the file for a password field.
    let app = Path::new(env!("CARGO_MANIFEST_DIR")).join("apps/gtk3.py");
    let log = job.path("log");
    let app = format!("/usr/bin/python3 {} {}", app.display(), log.display());
    let (output, printed) = run(
        &note(&app).replace("\"Name\"", "\"Secret\""),
        "--set name=Ann",
    );
    assert!(!output.status.success(), "{printed}");
    has(
        &printed,
        "it would type a text of the file into a password field",
    );
    has(&printed, "in line 6, column 1 of the recipe");
    let log = std::fs::read_to_string(log).unwrap_or_default();
    assert!(!log.contains("text Secret"), "{log}");
}

/// A sum on the calculator, by texts, by a ref and by a point.
fn sum(bed: &Bed) {
    let server = bed.server(&[]);
    let pid = server.open("org.gnome.Calculator").ok().pid();
    let click = |target: Value| {
        let mut arguments = json!({"pid": pid});
        arguments
            .as_object_mut()
            .unwrap()
            .extend(target.as_object().unwrap().clone());
        server.call("click_and_traverse", arguments).ok()
    };
    let seven = click(json!({"element": "7", "role": "AXButton"}));
    let times = seven.line_of("AXButton", "×").reference.unwrap();
    click(json!({"ref": times.to_string()}));
    let six = seven.line_of("AXButton", "6").extents.unwrap();
    click(json!({"x": six.x, "y": six.y, "width": six.w, "height": six.h}));
    let sum = click(json!({"element": "=", "role": "AXButton"}));
    assert!(sum.text.contains("42"), "{sum}");
}

#[test]
fn a_recorded_run_is_repeated_and_a_difference_is_found() {
    let (job, bed) = (Job::new(), Bed::new());
    sum(&bed);
    let (run, size) = (bed.journal(), "private=1280x800");
    let args = ["run", run.to_str().unwrap(), "--desktop", size];
    let again = || job.deskline(&args);
    let (output, printed) = again();
    assert!(output.status.success(), "{output:?}");
    assert!(printed.contains("4/4  done     click \"=\""), "{printed}");
    // The run's journal is unchanged.
    assert_eq!(bed.journal_lines().len(), 5);

    // If the sum differed, the run would stop there.
    let lines = bed.journal_lines();
    let last = lines[4]["files"]["text"].as_str().unwrap();
    let text = std::fs::read_to_string(last).unwrap();
    std::fs::write(last, text.replace("42", "43")).unwrap();
    let (output, printed) = again();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    has(&printed, "3/4  done");
    assert!(
        printed.contains("expected: shows [AXTextArea] \"43\""),
        "{printed}"
    );
    assert!(printed.contains("\"42\""), "{printed}");
}

/// An agent writes a note with Mousepad, whose texts are these.
fn note(server: &Client, app: &str, out: &Path, [file, save_as]: [&str; 2]) {
    let pid = server.open(app).ok().pid();
    let call = |tool: &str, mut more: Value| {
        more["pid"] = pid.into();
        server.call(&format!("{tool}_and_traverse"), more).ok()
    };
    call("type", json!({"text": "Dear Ann"}));
    call("click", json!({"element": file, "role": "AXMenuBarItem"}));
    call("click", json!({"element": save_as, "role": "AXMenuItem"}));
    let saved = json!({"text": out, "pressKey": "Return"});
    call("type", saved);
}

/// What was learned in one language of an app is done in the other, by the app's catalogues.
#[test]
fn a_recipe_is_done_in_another_language() {
    let job = Job::new();
    let locales = job.path("locales");
    std::fs::create_dir(&locales).unwrap();
    let made = Command::new("localedef")
        .args(["-i", "de_DE", "-f", "UTF-8"])
        .arg(locales.join("de_DE.UTF-8"))
        .output();
    assert!(
        made.as_ref().is_ok_and(|made| made.status.success()),
        "{made:?}"
    );
    let german = format!(
        "/usr/bin/env LOCPATH={} LANGUAGE=de LC_ALL=de_DE.UTF-8 mousepad",
        locales.display()
    );
    let english = "/usr/bin/env LANGUAGE=en LC_ALL=C.UTF-8 mousepad".to_owned();
    let in_english = ["File", "Save As..."];
    let in_german = ["Datei", "Speichern unter …"];
    for (name, own, other, texts) in [
        ("english", &english, &german, in_english),
        ("german", &german, &english, in_german),
    ] {
        let (bed, out) = (Bed::new(), job.path(&format!("{name}.txt")));
        note(&bed.server(&[]), own, &out, texts);
        assert_eq!(std::fs::read_to_string(&out).unwrap(), "Dear Ann");
        let (run, input) = (bed.journal(), format!("out={}", out.display()));
        let again = format!("out={}", job.path(&format!("{name}.2.txt")).display());
        let more = ["--input", &input, "--set", &again, run.to_str().unwrap()];
        let (output, printed) = job.deskline(&[&["learn", "--name", name], &more[..]].concat());
        assert!(output.status.success(), "{printed}");
        let file = job.path(&format!("recipes/{name}.recipe.toml"));
        let recipe = std::fs::read_to_string(&file).unwrap();
        assert_eq!(
            recipe.contains("/de/LC_MESSAGES/mousepad.mo"),
            name == "german",
            "{recipe}"
        );
        let recipe = recipe.replace(&format!("app = {own:?}"), &format!("app = {other:?}"));
        std::fs::write(&file, &recipe).unwrap();
        let done = job.path(&format!("{name}.3.txt"));
        let set = format!("out={}", done.display());
        let run = ["run", file.to_str().unwrap(), "--desktop", "private"];
        let run = [&run[..], &["--set", &set]].concat();
        let (output, printed) = job.deskline(&run);
        assert!(output.status.success(), "{recipe}\n{printed}");
        assert_eq!(std::fs::read_to_string(&done).unwrap(), "Dear Ann");
        // A text that is in no catalogue stops the recipe before anything is saved.
        let wrong = recipe.replace(
            &format!("element = {:?}", texts[0]),
            "element = \"Store it\"",
        );
        assert_ne!(wrong, recipe);
        std::fs::write(&file, wrong).unwrap();
        std::fs::remove_file(&done).unwrap();
        let (output, printed) = job.deskline(&run);
        assert!(!output.status.success() && !done.exists(), "{printed}");
        has(&printed, "the app is in \"");
    }
}

/// The catalogues of Qt have what they were made of.
#[test]
fn a_recipe_of_a_qt_app_is_done_in_another_language() {
    let job = Job::new();
    let (settings, recipe) = (job.path("settings.ini"), job.recipe());
    let file = |name: &str| job.path(name).display().to_string();
    let app = |locale: &str| {
        let files = format!(
            "--config {} --localconfig {}",
            file("settings.ini"),
            file("local.ini")
        );
        format!("/usr/bin/env LC_ALL={locale} keepassxc {files}")
    };
    let step = |element: &str, role: &str| {
        format!("[[step]]\ndo = \"click\"\nelement = {element:?}\nrole = {role:?}\n")
    };
    let saves = "Automatically save after every change";
    let steps = [
        step("Tools", "AXMenuBarItem"),
        step("Settings", "AXMenuItem"),
        step(saves, "AXCheckBox"),
        format!("absent = '[AXCheckBox] \"{saves}\" checked'\n"),
        step("OK", "AXButton"),
    ];
    std::fs::create_dir(recipe.parent().unwrap()).unwrap();
    for locale in ["C.UTF-8", "de_DE.UTF-8"] {
        let _ = std::fs::remove_file(&settings);
        let text = format!("format = 1\napp = {:?}\n{}", app(locale), steps.concat());
        std::fs::write(&recipe, text).unwrap();
        let (output, printed) = job.run(&[]);
        assert!(output.status.success(), "{locale}: {printed}");
        let written = std::fs::read_to_string(&settings).unwrap();
        has(&written, "AutoSaveAfterEveryChange=false");
    }
}

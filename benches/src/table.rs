//! The results as Markdown.

use std::fmt::Write as _;

use crate::measure::{Driven, Outcome, Times};

/// Three tables: the cost of each driver on each app, where Deskline's time goes, and what a server
/// that has just started reads.
pub fn markdown(outcomes: &[Outcome]) -> String {
    let mut out = String::from(
        "| app | driver | elements | full tree, ms | × | click + observe, ms | × | answers with | \
         bytes read | CPU of a tree: server/app/bus, ms | memory, MB |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for outcome in outcomes {
        let ours = outcome.driven.first();
        for driven in &outcome.driven {
            row(&mut out, outcome.name, driven, ours);
        }
    }
    out += "\n| app | whole | what shows | click without settling, p50 / p95 | \
            app grew from its first tree on, MB |\n\
            |---|---|---|---|---|\n";
    for outcome in outcomes {
        let Some(ours) = outcome.driven.first() else {
            continue;
        };
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} / {} | {:.1} |",
            outcome.name,
            both(&ours.traversal),
            both(&ours.showing),
            ms(ours.overhead.median()),
            ms(ours.overhead.at(0.95)),
            ours.grown,
        );
    }
    out += "\n| app | driver | first tree, ms | whole tree, bytes |\n|---|---|---|---|\n";
    for outcome in outcomes {
        for driven in &outcome.driven {
            let (app, name, whole) = (outcome.name, driven.name, driven.whole);
            let _ = writeln!(out, "| {app} | {name} | {} | {whole} |", ms(driven.first));
        }
    }
    for outcome in outcomes {
        for driven in &outcome.driven {
            if let Some(note) = &driven.note {
                let note = note.replace('\n', " ");
                let _ = writeln!(out, "\n{} on {}: {note}", driven.name, outcome.name);
            }
        }
    }
    out
}

fn row(out: &mut String, app: &str, driven: &Driven, ours: Option<&Driven>) {
    let beside = |times: &Times, of: fn(&Driven) -> &Times| match ours {
        Some(ours) if ours.name != driven.name => ratio(times, of(ours)),
        _ => String::new(),
    };
    let what = if driven.diffs { "diff" } else { "tree" };
    let tells = match (driven.click.median(), driven.tells) {
        (None, _) => "–".into(),
        (_, true) => what.into(),
        (_, false) => format!("{what}, not always"),
    };
    let [server, app_cpu, bus] = driven.cpu;
    let _ = writeln!(
        out,
        "| {app} | {} | {} | {} | {} | {} | {} | {tells} | {} / {} | {server:.0} / {app_cpu:.0} / \
        {bus:.0} | {:.0} |",
        driven.name,
        driven.elements,
        both(&driven.tree),
        beside(&driven.tree, |d| &d.tree),
        both(&driven.click),
        beside(&driven.click, |d| &d.click),
        driven.bytes,
        driven.click_bytes,
        driven.memory,
    );
}

fn both(times: &Times) -> String {
    match times.least() {
        Some(least) => format!("{} ({least:.0})", ms(times.median())),
        None => "–".into(),
    }
}

fn ms(value: Option<f64>) -> String {
    value.map_or("–".into(), |v| format!("{v:.0}"))
}

fn ratio(a: &Times, b: &Times) -> String {
    match (a.median(), b.median()) {
        (Some(a), Some(b)) if b > 0.0 => format!("{:.1}", a / b),
        _ => String::new(),
    }
}

//! Measures Deskline by itself: start, memory after many links, size, guard.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use deskline_testbed::{Bed, deskline};
use serde_json::json;

use crate::mcp::Mcp;
use crate::measure::Times;
use crate::usage::memory_mb;

const STARTS: usize = 20;
const LINKS: usize = 1_000;
const CLICKS: usize = 15;
const PATIENCE: Duration = Duration::from_secs(20);

/// The results as a Markdown table.
pub fn markdown(bed: &Bed) -> Result<String, String> {
    let mut start = Times::default();
    for _ in 0..STARTS {
        let begun = Instant::now();
        let _server = Mcp::start(serve(bed, "full"), PATIENCE)?;
        start.add(begun.elapsed().as_secs_f64() * 1e3);
    }
    let size = std::fs::metadata(deskline())
        .map_err(|e| e.to_string())?
        .len();
    let memory = memory(bed)?;
    let [guarded, bare] = clicks(bed)?;

    let mut out = String::from("| Deskline by itself | |\n|---|---|\n");
    let mut row = |what: &str, value: String| {
        let _ = writeln!(out, "| {what} | {value} |");
    };
    let of = |times: &Times, part| times.at(part).map_or("–".into(), |ms| format!("{ms:.1}"));
    row(
        "start to the first answer, ms, median (least)",
        format!("{} ({})", of(&start, 0.5), of(&start, 0.0)),
    );
    row(
        &format!("resident memory after {LINKS} links on gtk3-widget-factory, MB"),
        format!("{memory:.1}"),
    );
    row("binary, MB", format!("{:.1}", size as f64 / 1e6));
    row(
        "acting in a click, ms, with the guard / without, median",
        format!("{} / {}", of(&guarded, 0.5), of(&bare, 0.5)),
    );
    Ok(out)
}

fn serve(bed: &Bed, guard: &str) -> std::process::Command {
    let mut command = bed.command(deskline());
    command.arg("serve").arg("--dir").arg(bed.journal());
    command.args(["--attended", "--guard", guard]);
    command
}

/// Half of the links read, half act.
fn memory(bed: &Bed) -> Result<f64, String> {
    let app = bed.gtk3_widget_factory();
    let mut server = Mcp::start(serve(bed, "full"), PATIENCE)?;
    for _ in 0..LINKS / 2 {
        server.call("refresh_traversal", json!({"pid": app.pid}))?;
        let press = json!({"pid": app.pid, "element": "checkbutton", "role": "AXCheckBox"});
        server.call("press_ax_and_traverse", press)?;
    }
    Ok(memory_mb(server.pid()))
}

/// The time of the act step, with the guard and without, alternately.
fn clicks(bed: &Bed) -> Result<[Times; 2], String> {
    let app = bed.gtk3_widget_factory();
    let mut servers = [
        Mcp::start(serve(bed, "full"), PATIENCE)?,
        Mcp::start(serve(bed, "off"), PATIENCE)?,
    ];
    let mut times = [Times::default(), Times::default()];
    // Two clicks on one element would have to wait for the double-click time to pass.
    let elements = ["checkbutton", "radiobutton"];
    for _ in 0..CLICKS {
        for (server, times) in servers.iter_mut().zip(&mut times) {
            for element in elements {
                server.call(
                    "click_and_traverse",
                    json!({"pid": app.pid, "element": element}),
                )?;
                let line = bed.journal_lines().pop().unwrap_or_default();
                times.add(line["steps_ms"]["act"].as_f64().unwrap_or(f64::NAN));
            }
        }
    }
    Ok(times)
}

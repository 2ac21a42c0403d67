//! Measures Deskline and other drivers, on one private desktop, in one run. `scripts/bench`
//! installs the other drivers and runs this. Prints Markdown tables; with `--out`, writes the page
//! `benchmarks.md` to that folder.

#![allow(clippy::unwrap_used, clippy::expect_used)]
// `driver` and `driven` are both the right word.
#![allow(clippy::similar_names, clippy::needless_pass_by_value)]

mod driver;
mod late;
mod links;
mod mcp;
mod measure;
mod own;
mod subject;
mod table;
mod usage;

use std::path::PathBuf;
use std::time::Duration;

use deskline_testbed::Bed;

use driver::Driver;

const USAGE: &str = "usage: deskline-bench [--peers VENV] [--out FOLDER] [--only SUBJECT]
                      [--links COUNT] [--idle SECONDS] [--beside BIN]
                      [--late COUNT] [--late-in-front COUNT]";

fn main() {
    let mut peers: Option<PathBuf> = None;
    let mut out: Option<PathBuf> = None;
    let mut only = String::new();
    let mut extent = links::Extent {
        links: 10,
        idle: Duration::from_secs(5),
        beside: None,
    };
    let mut links_only = false;
    let mut late: Option<usize> = None;
    let mut in_front = false;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let value = args.next().expect(USAGE);
        match arg.as_str() {
            "--peers" => peers = Some(value.into()),
            "--out" => out = Some(value.into()),
            "--only" => only = value,
            "--links" => {
                extent.links = value.parse().expect(USAGE);
                links_only = true;
            }
            "--idle" => extent.idle = Duration::from_secs(value.parse().expect(USAGE)),
            "--late" => late = Some(value.parse().expect(USAGE)),
            "--late-in-front" => {
                late = Some(value.parse().expect(USAGE));
                in_front = true;
            }
            "--beside" => extent.beside = Some(value.into()),
            _ => panic!("{USAGE}"),
        }
    }
    let bed = Bed::new();
    if let Some(count) = late {
        let beside = extent.beside.as_deref();
        println!("{}", late::markdown(&bed, &only, count, in_front, beside));
        return;
    }
    if links_only {
        println!("{}", links::markdown(&bed, &only, &extent));
        return;
    }
    let own = match own::markdown(&bed) {
        Ok(table) => table,
        Err(why) => format!("Deskline by itself: {why}\n"),
    };
    eprintln!("{own}");
    let mut drivers = vec![Driver::Deskline];
    if peers.is_some() {
        drivers.extend(Driver::PEERS);
    }
    let mut results = vec![];
    for subject in subject::ALL.iter().filter(|s| s.name.contains(&only)) {
        eprintln!("{}", subject.name);
        let peers = peers.clone().unwrap_or_default();
        results.push(measure::subject(&bed, subject, &drivers, &peers));
        // Write the results after each app, because the whole run takes almost 20 minutes.
        if let Some(folder) = &out {
            std::fs::write(folder.join("benchmarks.md"), page(&results, "", &own)).unwrap();
        }
    }
    let links = links::markdown(&bed, &only, &extent);
    if let Some(folder) = &out {
        std::fs::write(folder.join("benchmarks.md"), page(&results, &links, &own)).unwrap();
    }
    println!("{}\n{links}\n{own}", table::markdown(&results));
}

/// The whole of docs/dev/benchmarks.md.
fn page(results: &[measure::Outcome], links: &str, own: &str) -> String {
    let about = include_str!("../about.md");
    let tables = table::markdown(results);
    format!("{about}\n{tables}\n{links}\n{own}")
}

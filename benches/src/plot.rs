//! Plots cost against size as an SVG: both axes logarithmic, a line a driver.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::measure::Outcome;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 440.0;
const MARGIN: f64 = 60.0;
/// The width for the labels of the lines.
const NAMES: f64 = 150.0;

/// Pairs of elements in an app and milliseconds.
type Points = Vec<(f64, f64)>;

/// The plot.
pub fn svg(outcomes: &[Outcome]) -> String {
    let mut lines: BTreeMap<&str, Points> = BTreeMap::new();
    for outcome in outcomes {
        // A raw bulk read of a browser has only a small part of the page.
        let elements = outcome.driven.first().map_or(0, |ours| ours.elements);
        let size = elements.max(outcome.nodes) as f64;
        let mut add = |name, ms: Option<f64>| {
            if let Some(ms) = ms {
                lines.entry(name).or_default().push((size, ms));
            }
        };
        add("raw bus", outcome.floor.median());
        for driven in &outcome.driven {
            add(driven.name, driven.tree.median());
            if driven.showing.median().is_some() {
                add("Deskline, what shows", driven.showing.median());
            }
        }
    }
    draw(&mut lines)
}

fn draw(lines: &mut BTreeMap<&str, Points>) -> String {
    const COLOURS: [&str; 7] = [
        "#0b6e4f", "#3fa34d", "#c1292e", "#7b4b94", "#e08e45", "#235789", "#888888",
    ];
    let x = |size: f64| scale(size, 50.0, 20_000.0, MARGIN, WIDTH - NAMES);
    let y = |ms: f64| scale(ms, 1.0, 20_000.0, HEIGHT - MARGIN, 20.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for ms in [1.0, 10.0, 100.0, 1_000.0, 10_000.0] {
        let (at, end) = (y(ms), WIDTH - NAMES);
        let _ = writeln!(
            out,
            "<path d=\"M{MARGIN} {at:.0}H{end}\" stroke=\"#ddd\"/><text x=\"{}\" y=\"{:.0}\" text-anchor=\"end\">{ms} ms</text>",
            MARGIN - 6.0,
            at + 4.0
        );
    }
    for size in [100.0, 1_000.0, 10_000.0] {
        let _ = writeln!(
            out,
            "<text x=\"{:.0}\" y=\"{}\" text-anchor=\"middle\">{size}</text>",
            x(size),
            HEIGHT - MARGIN + 18.0
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">elements of the app; a dot an app, time of a full tree</text>",
        f64::midpoint(WIDTH - NAMES, MARGIN),
        HEIGHT - 14.0
    );
    let mut free = 0.0;
    let mut ends: Vec<(f64, &str, &str)> = vec![];
    for ((name, points), colour) in lines.iter_mut().zip(COLOURS.iter().cycle()) {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let path: Vec<String> = points
            .iter()
            .map(|(size, ms)| format!("{:.1},{:.1}", x(*size), y(*ms)))
            .collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>",
            path.join(" ")
        );
        for point in &path {
            let (cx, cy) = point.split_once(',').unwrap_or_default();
            let _ = writeln!(
                out,
                "<circle cx=\"{cx}\" cy=\"{cy}\" r=\"3\" fill=\"{colour}\"/>"
            );
        }
        if let Some((_, ms)) = points.last() {
            ends.push((y(*ms), name, colour));
        }
    }
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (at, name, colour) in ends {
        // Move labels apart that would overlap.
        free = at.max(free + 15.0);
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{:.0}\" fill=\"{colour}\">{name}</text>",
            WIDTH - NAMES + 8.0,
            free + 4.0
        );
    }
    out + "</svg>\n"
}

fn scale(value: f64, least: f64, most: f64, from: f64, to: f64) -> f64 {
    let part = (value.clamp(least, most) / least).ln() / (most / least).ln();
    from + part * (to - from)
}

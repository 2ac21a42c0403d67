//! Documents: a note, a sheet, a letter.

use std::path::Path;

use serde_json::json;

use crate::agent::{Agent, Failed};
use crate::{becomes, content};

/// A note is written and saved under a new name.
pub(crate) fn note(agent: &mut Agent, folder: &Path) -> Result<(), Failed> {
    let path = folder.join("shopping.txt");
    let text = "Shopping\n- milk\n- bread, 2 loaves\n";
    let pid = agent.open("mousepad")?.pid();
    agent.chain(
        pid,
        json!([
            {"do": "type", "text": text},
            {"do": "press_key", "keyName": "s", "modifierFlags": ["Control"]},
            {"do": "wait_for", "element": "Save As", "role": "AXWindow"},
            {"do": "type", "text": path, "pressKey": "Return"},
            {"do": "wait_for", "element": "Save As", "role": "AXWindow", "state": "absent"},
        ]),
    )?;
    becomes("the note", &text.to_owned(), || content(&path))
}

/// A sheet with sums is filled in and saved as CSV, through the two questions that Calc asks.
pub(crate) fn sheet(agent: &mut Agent, folder: &Path) -> Result<(), Failed> {
    let path = folder.join("sales.csv");
    let text = "Item\tQ1\tQ2\tYear\nTea\t10\t20\t=SUM(B2:C2)\nMilk\t5\t7\t=SUM(B3:C3)\n\
                All\t=SUM(B2:B3)\t=SUM(C2:C3)\t=SUM(D2:D3)\n";
    let pid = agent.open("soffice --calc")?.pid();
    agent.chain(
        pid,
        json!([
            {"do": "click", "element": "OK", "role": "AXButton"},
            {"do": "type", "text": text},
            {"do": "press_key", "keyName": "s", "modifierFlags": ["Control"]},
            {"do": "wait_for", "element": "Save", "role": "AXWindow"},
            {"do": "type", "text": path, "pressKey": "Return"},
            {"do": "wait_for", "element": "Use Text CSV Format", "role": "AXButton"},
            {"do": "click", "element": "Use Text CSV Format", "role": "AXButton"},
            {"do": "wait_for", "element": "Export Text File", "role": "AXWindow"},
            {"do": "click", "element": "OK", "role": "AXButton"},
            {"do": "wait_for", "element": "sales.csv", "role": "AXWindow"},
        ]),
    )?;
    let wanted = "Item,Q1,Q2,Year\nTea,10,20,30\nMilk,5,7,12\nAll,15,27,42\n";
    becomes("the sheet", &wanted.to_owned(), || content(&path))
}

/// A letter with a heading is written and exported. The judge reads the PDF in evince.
pub(crate) fn letter(agent: &mut Agent, folder: &Path) -> Result<(), Failed> {
    let path = folder.join("letter.pdf");
    let pid = agent.open("soffice --writer")?.pid();
    agent.chain_in(
        pid,
        "LibreOffice Writer",
        json!([
            {"do": "press_key", "keyName": "1", "modifierFlags": ["Control"]},
            {"do": "type", "text": "Your order\nDear Ms Gray,\nthe parcel left us today.\n"},
            {"do": "click", "element": "Export Directly as PDF", "role": "AXButton"},
            {"do": "wait_for", "element": "Export", "role": "AXWindow"},
            {"do": "type", "text": path, "pressKey": "Return"},
            {"do": "wait_for", "element": "Export", "role": "AXWindow", "state": "absent"},
        ]),
    )?;
    becomes("the PDF is there", &true, || {
        content_starts_with(&path, b"%PDF-")
    })?;
    let read = agent.judge(&format!("evince {}", path.display()))?;
    for line in ["Your order", "Dear Ms Gray,", "the parcel left us today."] {
        if !read.contains(line) {
            return Err(format!("evince does not show '{line}' in the PDF:\n{read}"));
        }
    }
    Ok(())
}

fn content_starts_with(path: &Path, start: &[u8]) -> bool {
    std::fs::read(path).is_ok_and(|content| content.starts_with(start))
}

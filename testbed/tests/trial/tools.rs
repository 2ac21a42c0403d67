//! Other apps: a calculator, a file manager, a browser, an editor, a PDF viewer.

use std::fs;
use std::path::Path;

use deskline_testbed::pdf;
use deskline_testbed::web::Page;
use serde_json::json;

use crate::agent::{Agent, Failed};
use crate::{becomes, content};

/// A sum, read from the calculator's answer.
pub(crate) fn sum(agent: &mut Agent, _: &Path) -> Result<(), Failed> {
    let n = u64::from(std::process::id());
    let pid = agent.open("gnome-calculator")?.pid();
    let answer = agent.chain(
        pid,
        json!([{"do": "type", "text": format!("{n}*56+78"), "pressKey": "Return"}]),
    )?;
    let wanted = (n * 56 + 78).to_string();
    let message = answer.list("text_changes").join("\n");
    if message.contains(&format!("-> '{wanted}'")) {
        Ok(())
    } else {
        Err(format!("the answer does not say {wanted}: {answer}"))
    }
}

/// One file is renamed, another is moved into a folder.
pub(crate) fn files(agent: &mut Agent, folder: &Path) -> Result<(), Failed> {
    let papers = folder.join("papers");
    fs::create_dir_all(papers.join("archive")).unwrap();
    for name in ["draft.txt", "old.log", "photo.jpg"] {
        fs::write(papers.join(name), name).unwrap();
    }
    let pid = agent.open(&format!("thunar {}", papers.display()))?.pid();
    agent.chain(
        pid,
        json!([
            {"do": "press_key", "keyName": "2", "modifierFlags": ["Control"]},
            {"do": "click", "element": "draft.txt", "role": "AXCell"},
            {"do": "press_key", "keyName": "F2"},
            {"do": "wait_for", "element": "Rename", "role": "AXWindow"},
            {"do": "press_key", "keyName": "a", "modifierFlags": ["Control"]},
            {"do": "type", "text": "final.txt"},
            {"do": "click", "element": "Rename", "role": "AXButton"},
            {"do": "wait_for", "element": "final.txt", "role": "AXCell"},
            {"do": "click", "element": "old.log", "role": "AXCell"},
            {"do": "press_key", "keyName": "x", "modifierFlags": ["Control"]},
            {"do": "click", "element": "archive", "role": "AXCell", "rightClick": true},
            {"do": "click", "element": "Paste Into Folder", "role": "AXMenuItem"},
            {"do": "wait_for", "element": "old.log", "role": "AXCell", "state": "absent"},
        ]),
    )?;
    let wanted = ["archive/old.log", "final.txt", "photo.jpg"];
    becomes("the files", &wanted.map(str::to_owned).to_vec(), || {
        files_below(&papers)
    })?;
    if content(&papers.join("final.txt")) == "draft.txt" {
        Ok(())
    } else {
        Err("the renamed file has another content".into())
    }
}

fn files_below(papers: &Path) -> Vec<String> {
    let names = |folder: &Path, before: &str| -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
        entries
            .filter(|entry| entry.path().is_file())
            .map(|entry| format!("{before}{}", entry.file_name().to_string_lossy()))
            .collect()
    };
    let mut all = names(papers, "");
    all.extend(names(&papers.join("archive"), "archive/"));
    all.sort();
    all
}

/// A form, which reports the sent data.
const FORM: &str = r"<h1>Order</h1><form id=order>
<p><label>Name <input name=name required></label>
<p><label>Email <input name=mail type=email required></label>
<p><label>Size <select name=size><option>Small<option>Medium<option>Large</select></label>
<p><label><input type=checkbox name=gift> Gift wrap</label>
<p><label>Remarks <textarea name=remarks></textarea></label>
<p><button>Send order</button></form><script>
order.onsubmit = event => {
  event.preventDefault();
  log('order', new URLSearchParams(new FormData(order)));
  document.body.innerHTML = '<h1>Thank you</h1>';
};</script>";

/// A web form is filled in and sent.
pub(crate) fn form(agent: &mut Agent, folder: &Path) -> Result<(), Failed> {
    let page = Page::serve(FORM);
    let profile = folder.join("chromium");
    let start = format!(
        "chromium --no-sandbox --no-first-run --disable-background-networking --user-data-dir={} \
        {}",
        profile.display(),
        page.address()
    );
    let pid = agent.open(&start)?.pid();
    agent.chain(
        pid,
        json!([
            {"do": "wait_for", "element": "Send order", "role": "AXButton"},
            {"do": "click", "element": "Name", "role": "AXTextField", "text": "Ann Lee"},
            {"do": "click", "element": "Email", "role": "AXTextField", "text": "ann@example.org"},
            {"do": "click", "element": "Size", "role": "AXComboBox", "text": "Large", "pressKey": "Return"},
            {"do": "click", "element": "Gift wrap", "role": "AXCheckBox"},
            {"do": "click", "element": "Remarks", "role": "AXTextArea", "text": "two boxes"},
            {"do": "click", "element": "Send order", "role": "AXButton"},
            {"do": "wait_for", "element": "Thank you"},
        ]),
    )?;
    let wanted = "order name=Ann+Lee&mail=ann%40example.org&size=Large&gift=on&remarks=two+boxes";
    becomes("the order", &vec![wanted.to_owned()], || page.log())
}

/// A name is replaced in a text, which is saved.
pub(crate) fn replace(agent: &mut Agent, folder: &Path) -> Result<(), Failed> {
    let path = folder.join("minutes.txt");
    let before = "Mr Smith opened the meeting.\nNobody asked.\nMr Smith closed it.\n";
    fs::write(&path, before).unwrap();
    let pid = agent.open(&format!("featherpad {}", path.display()))?.pid();
    agent.chain(
        pid,
        json!([
            {"do": "press_key", "keyName": "r", "modifierFlags": ["Control"]},
            {"do": "click", "element": "To be replaced", "role": "AXTextField", "text": "Mr Smith"},
            {"do": "click", "element": "Replacing text", "role": "AXTextField", "text": "Ms Jones"},
            {"do": "click", "element": "Replace all", "role": "AXButton"},
            {"do": "press_key", "keyName": "s", "modifierFlags": ["Control"]},
            {"do": "wait_for", "element": "Save", "role": "AXButton", "state": "disabled"},
        ]),
    )?;
    let wanted = before.replace("Mr Smith", "Ms Jones");
    becomes("the text", &wanted, || content(&path))
}

/// The total of an invoice is on its third page.
pub(crate) fn look_up(agent: &mut Agent, folder: &Path) -> Result<(), Failed> {
    let path = folder.join("invoice.pdf");
    let total = format!("{}.50 EUR", std::process::id());
    let last = format!("Total due: {total}\nPay by 1 December");
    fs::write(
        &path,
        pdf(&["Invoice 2031\nTo: Ann Lee", "Item 1 12.00", &last]),
    )
    .unwrap();
    agent.open(&format!("evince {}", path.display()))?;
    let answer = agent.search("total due")?;
    if answer.text.contains(&format!("Total due: {total}")) {
        Ok(())
    } else {
        Err(format!("the total is not in {answer}"))
    }
}

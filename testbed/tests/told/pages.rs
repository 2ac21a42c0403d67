//! Pages in Chromium and Firefox.

use deskline_testbed::web::Page;
use deskline_testbed::{App, Bed, Client, until};
use serde_json::json;

/// The browsers, each with this page.
fn in_each_browser(html: &str, test: impl Fn(&Bed, &Client, &App<'_>, &Page)) {
    for browser in ["Chromium", "Firefox"] {
        let (bed, server) = Bed::with_server();
        let (app, page) = match browser {
            "Firefox" => bed.firefox_page(html),
            _ => bed.chromium(html),
        };
        until("the page in the tree", || {
            server.refresh(app.pid).ok().find("AXButton", "Last")
        });
        test(&bed, &server, &app, &page);
    }
}

/// A radio button cut to nothing in a label, as bars of choices are made.
const SEGMENTS: &str = r"<style>label div{padding:8px 20px;border:1px solid;display:inline-block}
input{position:absolute;clip:rect(0 0 0 0)}</style>
<label><input type=radio name=r value=Day><div>Day</div></label>
<label><input type=radio name=r value=Week><div>Week</div></label><button>Last</button>
<script>onchange=e=>log('chose',e.target.value);log('ready')</script>";

#[test]
fn a_label_around_a_hidden_control_takes_its_click() {
    in_each_browser(SEGMENTS, |bed, server, app, page| {
        let (persons, _) = bed.mousepad("");
        let click = json!({"element": "Week", "role": "AXRadioButton"});
        let answer = persons.call_behind(server, app.pid, "click_and_traverse", click);
        assert!(!answer.is_error, "{answer}");
        page.wait_for("chose Week");
    });
}

/// A table whose head and first column stay, a list with a bar that stays at its top, a link over
/// two lines of a list, a list box, and a strip that scrolls to the left.
const OVER: &str = "<style>#w{height:200px;width:420px;overflow:auto}td,th{min-width:120px;

height:40px;background:#fff}th{position:sticky;top:0}td:first-child{position:sticky;left:0}
#e{height:200px;overflow:auto}#e button{display:block;width:200px;height:40px}
#e #bar{position:sticky;top:0;width:100%;height:60px}</style>
<div id=w tabindex=0><table><thead><tr id=h></tr></thead><tbody id=b></tbody></table></div>
<div id=e><button id=bar>Wipe</button></div><ul style='width:120px'><li><a href='#'>Item with</a>, <a href='#'>another</a>,
<a href='#'>third one</a></ul><select size=4 aria-label=Base onchange=\"log('base',value)\">
<option>Thin<option>Thick<option>Pan<option>Deep<option>Cheese</select>
<div dir=rtl id=s style='width:300px;overflow-x:auto;white-space:nowrap'></div><button>Last</button>
<script>for(let r=0;r<24;r++){const row=b.insertRow();for(let c=0;c<8;c++){
row.insertCell().textContent=`Cell ${r}-${c}.`;if(!r)h.innerHTML+=`<th>Head ${c}`}
s.innerHTML+=`<button style='width:100px'>Strip ${r}.</button>`;
e.insertAdjacentHTML('beforeend',`<button>Entry ${r}.</button>`)}
onclick=({target})=>{if(!target.closest('select'))log('clicked',target.textContent)}
onload=()=>{w.scrollTo(210,130);e.scrollTop=110}</script>";

#[test]
fn an_element_over_the_target_in_a_page_gets_no_click() {
    in_each_browser(OVER, |bed, server, app, page| {
        let (persons, _) = bed.mousepad("");
        for (name, wanted) in [
            ("Cell 3-2.", "clicked Cell 3-2."),
            ("Entry 1.", "clicked Entry 1."),
            ("Entry 10.", "clicked Entry 10."),
            ("third one", "clicked third one"),
            ("Cheese", "base Cheese"),
            ("Strip 9.", "clicked Strip 9."),
            ("Cell 20-6.", "clicked Cell 20-6."),
        ] {
            page.clear_log();
            let click = json!({"element": name});
            let answer = persons.call_behind(server, app.pid, "click_and_traverse", click);
            assert!(!answer.is_error, "{:?}\n{answer}", page.log());
            page.wait_for(wanted);
            assert_eq!(page.log(), [wanted], "{answer}");
        }
    });
}

/// A section that opens slowly, a button that comes late, a dialog and a frame in a frame that
/// scroll, and another page.
const OPENS: &str = "<style>#a{max-height:0;overflow:hidden;transition:max-height .35s}
#a.open{max-height:90px}</style><button onclick=\"a.classList.add('open')\">Section</button>
<div id=a><p>About it</p><button>Inner</button></div><button onclick=\"setTimeout(()=>
this.outerHTML='<button>Finish</button>',350);this.textContent='Wait'\">Begin</button>
<button onclick=\"sessionStorage.two=1;location='/'\">Leave</button>
<button onclick='d.show()'>Open</button><dialog id=d style='height:120px;overflow:auto'>
<div style='height:500px'></div><button>Save</button></dialog><iframe id=f height=90></iframe>
<div style='height:900px'></div><button>Last</button><script>
onclick=e=>log('clicked',e.target.textContent);const tall='<div style=height:400px></div>';
f.srcdoc=tall+'<iframe id=g height=80></iframe><script>g.srcdoc=`'+tall+
'<button onclick=top.log(\"deep\")>Deep</button>`</'+'script>';
if(sessionStorage.two)document.body.innerHTML='<button>Second</button>';log('ready')</script>";

#[test]
fn a_step_acts_on_a_list_that_the_step_before_opened_in_a_page() {
    in_each_browser(OPENS, |bed, server, app, page| {
        let (persons, _) = bed.mousepad("");
        for (names, wanted) in [
            (&["Section", "Inner"][..], "clicked Inner"),
            (&["Begin", "Finish"], "clicked Finish"),
            (&["Deep"], "deep"),
            (&["Last"], "clicked Last"),
            (&["Open", "Save"], "clicked Save"),
            (&["Leave", "Second"], "clicked Second"),
        ] {
            let step = |name: &&str| json!({"do": "click", "element": name, "role": "AXButton"});
            let steps: Vec<_> = names.iter().map(step).collect();
            let chain = json!({ "steps": steps });
            let answer = persons.call_behind(server, app.pid, "chain_and_traverse", chain);
            assert!(!answer.is_error, "{:?}\n{answer}", page.log());
            page.wait_for(wanted);
        }
    });
}

/// A frame of another site, a button half outside of the page, the button of a table's head, a tip
/// that stays while the pointer is over it, a box that only its label shows, an icon with a tip,
/// and a curly quote.
const ASIDE: &str =
    "<style>.t{position:relative;width:200px}.t span{display:none;position:absolute;
left:0;top:24px;width:220px;height:60px;background:#ff8}.t:hover span{display:block}
button{height:24px}#s{position:fixed;right:-70px;top:200px;width:140px}
th{height:60px}.h{position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0 0 0 0)}</style>
<div class=t><button>Store</button><span role=tooltip>Writes to the disk</span></div>
<button>Wipe</button><button id=s>Side</button><table><tr><th><button>Sort</button><th>Age</table>
<input type=checkbox class=h id=n><label for=n>News</label><br><button title='Print all'>🖶</button>
<button>Don’t ask</button><button>Last</button><div style='height:2000px'></div><script>
onclick=e=>{const b=e.target.closest('button');if(b)log('clicked',b.textContent)}
n.onchange=()=>log('news',n.checked);
if(location.hostname=='localhost')document.body.innerHTML='<button>Inner</button>';
else{n.after(Object.assign(document.createElement('iframe'),
{src:location.href.replace('127.0.0.1','localhost')}))}</script>";

#[test]
fn what_lies_aside_in_a_page_is_clicked() {
    in_each_browser(ASIDE, |bed, server, app, page| {
        let (persons, _) = bed.mousepad("");
        until("the frame in the tree", || {
            server.refresh(app.pid).ok().find("AXButton", "Inner")
        });
        let step = |name: &str| json!({"do": "click", "element": name});
        let over = json!({"do": "click", "element": "Store", "hover": true});
        for (steps, wanted) in [
            (json!([step("Inner")]), "clicked Inner"),
            (json!([step("Print all")]), "clicked 🖶"),
            (json!([step("Don't ask")]), "clicked Don’t ask"),
            (json!([step("Side")]), "clicked Side"),
            (json!([step("Sort")]), "clicked Sort"),
            (json!([over, step("Wipe")]), "clicked Wipe"),
            (json!([step("News")]), "news true"),
        ] {
            page.clear_log();
            let chain = json!({ "steps": steps });
            let answer = persons.call_behind(server, app.pid, "chain_and_traverse", chain);
            assert!(!answer.is_error, "{:?}\n{answer}", page.log());
            page.wait_for(wanted);
            assert_eq!(page.log(), [wanted], "{answer}");
            if wanted == "news true" {
                assert!(answer.field("target").contains(" checked"), "{answer}");
            }
        }
    });
}

#[test]
fn a_note_says_that_something_outside_the_tree_may_take_the_click() {
    let html = r#"<div style="position:relative;width:200px;height:60px">
        <button style="width:200px;height:60px">Order</button>
        <div aria-hidden=true style="position:absolute;inset:0" onclick="log('over')"></div></div>
        <div id=c style="position:relative;width:200px;height:60px">
        <button style="width:200px;height:60px">Buy</button></div>
        <script>c.onmousedown=e=>{e.preventDefault();c.insertAdjacentHTML('beforeend',
        '<div role=note aria-label=Card style="position:absolute;inset:0">Card</div>')}</script>
        <input aria-label=Part oninput="if(value.length>1)e.focus()"><input id=e aria-label=End>
        <button onclick="log('last')">Last</button><script>log('ready')</script>"#;
    in_each_browser(html, |bed, server, app, page| {
        let (persons, _) = bed.mousepad("");
        let last = json!({"element": "Last"});
        let answer = persons.call_behind(server, app.pid, "click_and_traverse", last);
        page.wait_for("last");
        assert!(!answer.text.contains("did not get the focus"), "{answer}");
        let order = json!({"element": "Order"});
        let answer = persons.call_behind(server, app.pid, "click_and_traverse", order);
        let told = answer.is_error || answer.text.contains("did not get the focus");
        assert!(told, "{:?}\n{answer}", page.log());
        let buy = json!({"element": "Buy"});
        let answer = persons.call_behind(server, app.pid, "click_and_traverse", buy);
        assert!(answer.text.contains("has come over 'Buy'"), "{answer}");
        let part = json!({"element": "Part", "role": "AXTextField", "text": "wxyz"});
        let answer = persons.call_behind(server, app.pid, "click_and_traverse", part);
        assert!(
            answer
                .text
                .contains("'Part' [AXTextField] contains 'wx' now"),
            "{answer}"
        );
    });
}

#[test]
fn an_exact_name_is_clicked_in_a_page_that_is_read_in_parts() {
    let html = "<button>Last</button><div id=l></div><script>let s='';
        for(let i=60;i--;s+='<br>')for(let j=12;j--;)s+=`<button>Cell ${i}.${j}</button>`;
        l.innerHTML=s;onclick=e=>log('clicked',e.target.textContent)</script>";
    in_each_browser(html, |bed, server, app, page| {
        let (persons, _) = bed.mousepad("");
        for name in ["Cell 2.1", "Cell 38.1"] {
            let cell = json!({"element": name, "role": "AXButton"});
            let answer = persons.call_behind(server, app.pid, "click_and_traverse", cell);
            assert!(!answer.is_error, "{:?}\n{answer}", page.log());
            page.wait_for(&format!("clicked {name}"));
        }
    });
}

#[test]
fn a_number_that_a_page_takes_back_is_no_success() {
    let html = r#"<label>Level <input type=range value=50 oninput="log('level',value);
        clearTimeout(t);t=setTimeout(()=>value=50,120)"></label>
        <button>Last</button><script>let t;log('ready')</script>"#;
    in_each_browser(html, |bed, server, app, page| {
        let (persons, _) = bed.mousepad("");
        let level = json!({"element": "Level", "role": "AXSlider", "value": "80"});
        let answer = persons.call_behind(server, app.pid, "set_value_and_traverse", level);
        page.wait_for("level 80");
        assert!(answer.is_error, "{answer}");
    });
}

#[test]
fn suggestions_of_chromium_are_shown_and_stay_until_the_next_call() {
    let html = r#"<label>City <input list=c oninput="log('city',value)"></label>
        <datalist id=c><option>Berlin<option>Bern</datalist><script>log('ready')</script>"#;
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let (app, page) = bed.chromium(html);
    let city = json!({"element": "City", "role": "AXComboBox", "text": "Ber"});
    let answer = persons.call_behind(&server, app.pid, "click_and_traverse", city);
    let answer = answer.ok();
    let shown = answer.list("visible_elements");
    assert!(shown.iter().any(|l| l.contains("\"Bern\"")), "{shown:?}");
    let bern = json!({"pid": app.pid, "element": "Bern"});
    let answer = server.call("click_and_traverse", bern).ok();
    page.wait_for("city Bern");
    assert_eq!(bed.screen().front(), persons.window.id, "{answer}");
}

/// An area whose middle is another's, and a read-only text.
const ODD: &str = r#"
<img usemap=#m width=300 height=200 src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>">
<map name=m>
<area shape=poly coords=0,0,300,0,300,30,30,30,30,200,0,200 alt=North href=#n
 onclick="log('North'); box.focus()">
<area coords=60,60,240,180 alt=Middle href=#m onclick="log('Middle')"></map>
<input id=box aria-label=Box oninput="log(value)">
<label>Notes <textarea readonly>old text</textarea></label>
<button>Last</button><script>log('ready')</script>"#;

#[test]
fn an_area_of_an_image_map_is_clicked_and_a_read_only_field_is_an_error() {
    in_each_browser(ODD, |bed, server, app, page| {
        let (persons, _) = bed.mousepad("");
        let click = |more| persons.call_behind(server, app.pid, "click_and_traverse", more);
        for name in ["North", "Middle"] {
            page.clear_log();
            click(json!({"element": name, "role": "AXLink"})).ok();
            page.wait_for(name);
            assert_eq!(page.log(), [name]);
        }
        click(json!({"element": "North", "role": "AXLink", "text": "typed"})).ok();
        page.wait_for("typed");
        let notes = json!({"element": "Notes", "role": "AXTextArea", "text": "new"});
        click(notes).error();
    });
}

#[test]
fn a_starting_firefox_is_not_closed_by_a_click_meant_for_its_page() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let page = Page::serve("<button onclick=\"log('closed')\">Close</button>");
    let app = bed.firefox_at(&page.address(), "");
    let close = json!({"element": "Close"});
    let answer = persons.call_behind(&server, app.pid, "click_and_traverse", close);
    if !answer.is_error {
        page.wait_for("closed");
    }
}

#[test]
fn a_card_is_dropped_where_the_page_accepts_it() {
    let html = r#"<div draggable=true style="width:90px;height:40px;background:#ccf"
        ondragstart="event.dataTransfer.setData('text/plain','x')">Card</div>
        <div style="width:200px;height:90px;background:#cfc" ondragover="event.preventDefault()"
        ondrop="event.preventDefault();log('dropped');textContent='Full'">Zone</div>
        <button>Last</button><script>log('ready')</script>"#;
    in_each_browser(html, |bed, server, app, page| {
        let (persons, _) = bed.mousepad("");
        page.clear_log();
        let drag = json!({"element": "Card", "toElement": "Zone"});
        let answer = persons.call_behind(server, app.pid, "drag_and_traverse", drag);
        page.wait_for("dropped");
        assert!(!answer.is_error, "{answer}");
    });
}

#[test]
fn a_text_that_a_page_takes_back_after_return_is_no_success() {
    let html = r#"<label>Code <input value=ten onkeydown="if(event.key=='Enter'){log('got',value);
        setTimeout(()=>value='ten',120)}"></label><button>Last</button>
        <script>log('ready')</script>"#;
    in_each_browser(html, |bed, server, app, page| {
        let (persons, _) = bed.mousepad("");
        let mut code = json!({"element": "Code", "role": "AXTextField", "doubleClick": true});
        (code["text"], code["pressKey"]) = ("nine".into(), "Return".into());
        let answer = persons.call_behind(server, app.pid, "click_and_traverse", code);
        page.wait_for("got nine");
        // It is a note while a browser changes its bars, as it does at its start.
        let told = ["is 'ten' again", "it shows 'ten' still"];
        assert!(
            told.iter().any(|told| answer.text.contains(told)),
            "{answer}"
        );
    });
}

/// What passes clicks on or hides for a while, and lists that show a part of what they hold.
const PARTS: &str = r#"<style>.s{position:absolute;opacity:0;pointer-events:none}.s+label{padding:8px 20px}
    #l{position:absolute;left:500px;margin:0;padding:0;list-style:none;height:90px;overflow:auto}
    #l li{height:30px;width:100px}#veil{position:fixed;inset:0;background:#fff8}
    .b{position:absolute;width:0;height:0}p{width:300px;font:16px/24px sans-serif}</style>
    <input class=s type=radio name=r id=r1><label for=r1>Small</label>
    <input class=s type=radio name=r id=r2><label for=r2>Large</label>
    <div role=combobox tabindex=0 aria-label=Colour aria-expanded=false aria-controls=l id=c
      style="position:absolute;left:500px;width:100px" onclick="show(l.hidden)">Red</div>
    <p><input type=checkbox id=k> Some words first that fill it <label for=k>I agree to all of the
      conditions and rules</label> and more.
    <p><button onclick="veil.hidden=false;setTimeout(()=>veil.remove(),600)">Load</button>
    <button onclick="log('started')">Start</button><div id=veil hidden>Loading</div>
    <div style="height:120px"></div><ul id=l role=listbox hidden></ul><button>Last</button><script>
    function show(open){l.hidden=!open;c.setAttribute('aria-expanded',open)}
    for(const x of ['Red','Green','Blue','Grey','Black','White']){const e=document.createElement('li');
      e.role='option';e.textContent=x;l.append(e);
      e.onclick=()=>{c.textContent=x;show(false);log('colour',x)}}
    onchange=e=>log(e.target.id,e.target.checked);log('ready')</script>"#;

#[test]
fn labels_overlays_and_lists_of_a_page_let_a_click_reach_its_target() {
    in_each_browser(PARTS, |bed, server, app, page| {
        let (persons, _) = bed.mousepad("");
        let large = json!({"element": "Large", "role": "AXRadioButton"});
        let agree = json!({"element": "I agree to all", "role": "AXCheckBox"});
        let choose = |colour| json!({"element": "Colour", "choose": colour});
        let calls = [
            (large, "r2 true"),
            (agree, "k true"),
            (choose("Black"), "colour Black"),
            // Its list is scrolled now.
            (choose("Green"), "colour Green"),
            (choose("White"), "colour White"),
        ];
        for (click, does) in calls {
            page.clear_log();
            let answer = persons.call_behind(server, app.pid, "click_and_traverse", click);
            assert!(!answer.is_error, "{answer}");
            page.wait_for(does);
            assert_eq!(page.log(), [does], "{answer}");
        }
        let steps = json!({"steps": [{"do": "click", "element": "Load"},
            {"do": "click", "element": "Start"}]});
        let answer = persons.call_behind(server, app.pid, "chain_and_traverse", steps);
        assert!(!answer.is_error, "{answer}");
        page.wait_for("started");
    });
}

/// Fields and cells that make something else of a text, and lists with choices that cannot be
/// meant.
const ELSE: &str = r#"<label>Tags <input id=g onkeydown="if(event.key=='Enter'||event.key==','){
      event.preventDefault();log('tag',value);g.value=''}"></label>
    <label>At most ten <input type=number value=1 onchange="if(value>10)value=10;log('number',value)"></label>
    <table role=grid><tr><td tabindex=0>alpha<td tabindex=0>beta</table>
    <select aria-label=Size><optgroup label=Men><option>S<option>L</optgroup>
      <optgroup label=Women><option>S<option>L</optgroup></select>
    <select aria-label=Plan><option>Free<option disabled>Gold</select><button>Last</button><script>
    document.querySelectorAll('td').forEach(cell=>cell.ondblclick=()=>{
      const was=cell.textContent,field=document.createElement('input');
      field.value=was;cell.textContent='';cell.append(field);field.select();
      const end=()=>{cell.textContent=was;log('back',was)};
      field.onkeydown=e=>{if(e.key=='Enter'){field.onblur=null;end()}};field.onblur=end});
    log('ready')</script>"#;

#[test]
fn the_answer_shows_how_a_page_changes_a_text_or_refuses_a_choice() {
    in_each_browser(ELSE, |bed, server, app, page| {
        let (persons, _) = bed.mousepad("");
        let click = |click: serde_json::Value, tells: &str| {
            let answer = persons.call_behind(server, app.pid, "click_and_traverse", click);
            assert!(answer.text.contains(tells), "{answer}");
        };
        let tags = json!({"element": "Tags", "role": "AXTextField", "text": "blue,green",
            "pressKey": "Return"});
        click(tags, "contains 'green' now");
        page.wait_for("tag green");
        assert_eq!(page.log(), ["tag blue", "tag green"]);
        let number = json!({"element": "At most ten", "role": "AXIncrementor", "doubleClick": true,
            "text": "50", "pressKey": "Tab"});
        click(number, "contains '10' now");
        page.wait_for("number 10");
        let cell = json!({"element": "alpha", "doubleClick": true, "text": "one",
            "pressKey": "Return"});
        click(cell, "shows 'alpha' still");
        page.wait_for("back alpha");
        // The cell drops the text once the person's window is in front again.
        let cell = json!({"element": "beta", "doubleClick": true, "text": "two"});
        click(cell, "is 'beta' again");
        click(
            json!({"element": "Size", "choose": "L"}),
            "has 2 choices 'L'",
        );
        click(json!({"element": "Plan", "choose": "Gold"}), "is disabled");
    });
}

//! Documents for the apps to open.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use deskline_testbed::Bed;

fn write(bed: &Bed, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = bed.path(name);
    fs::write(&path, content).unwrap();
    text(&path)
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

pub fn note(bed: &Bed) -> String {
    write(
        bed,
        "note.txt",
        "Apples are red.\nPears are green.\n\nPlums are neither.\n",
    )
}

/// A script that writes the input that it gets from a terminal to the file "said".
pub fn mouse_report(bed: &Bed) -> String {
    let said = text(&bed.path("said"));
    let script =
        format!("printf 'Total 42\\r\\n\\033[?1002h\\033[?1006h'; stty raw -echo; cat > {said}\n");
    write(bed, "report.sh", script)
}

/// Three packets of UDP, from ports 1000 to 1002, a second apart.
pub fn capture(bed: &Bed) -> String {
    let header: [u32; 6] = [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 1];
    let mut file: Vec<u8> = header.into_iter().flat_map(u32::to_le_bytes).collect();
    for n in 0..3_u16 {
        let times: [u32; 4] = [n.into(), 0, 42, 42];
        file.extend(times.into_iter().flat_map(u32::to_le_bytes));
        file.extend([0; 12]);
        // EtherType, and IPv4 from 127.0.0.1 to itself.
        file.extend([8, 0, 0x45, 0, 0, 28, 0, 1, 0, 0, 64, 17, 0, 0]);
        file.extend([127, 0, 0, 1, 127, 0, 0, 1]);
        let udp = [1000 + n, 53, 8, 0];
        file.extend(udp.into_iter().flat_map(u16::to_be_bytes));
    }
    write(bed, "three.pcap", file)
}

/// qBittorrent's settings, without its first question.
pub fn qbittorrent(bed: &Bed) {
    let folder = Path::new(&bed.environment()["HOME"]).join(".config/qBittorrent");
    fs::create_dir_all(&folder).unwrap();
    fs::write(
        folder.join("qBittorrent.conf"),
        "[LegalNotice]\nAccepted=true\n",
    )
    .unwrap();
}

/// The environment of programs under Wine: with a prepared prefix, and without dialogs about
/// missing components.
pub fn wine(bed: &Bed) -> String {
    let prefix = format!("WINEPREFIX={}", text(&bed.path("wine")));
    let environment = [
        &*prefix,
        "WINEDLLOVERRIDES=mscoree,mshtml=",
        "WINEDEBUG=-all",
    ];
    bed.run(
        "env",
        &[&environment[..], &["wine", "wineboot", "-i"]].concat(),
    );
    environment.join(" ")
}

pub fn c_program(bed: &Bed) -> String {
    let lines = [
        "#include <stdio.h>",
        "",
        "static int add(int left, int right) { return left + right; }",
        "static int twice(int number) { return add(number, number); }",
        "struct orchard { int apples; int pears; };",
        "int main(void) { printf(\"%d\\n\", twice(21)); return 0; }",
    ];
    write(bed, "orchard.c", lines.join("\n") + "\n")
}

fn flat_odf(kind: &str, body: &str) -> String {
    let name = |part: &str| format!("urn:oasis:names:tc:opendocument:xmlns:{part}:1.0");
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\
         <office:document xmlns:office=\"{}\" xmlns:text=\"{}\" xmlns:table=\"{}\" \
         xmlns:draw=\"{}\" xmlns:style=\"{}\" \
         xmlns:svg=\"urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0\" \
         office:version=\"1.2\" office:mimetype=\"application/vnd.oasis.opendocument.{kind}\">\
         {body}</office:document>",
        name("office"),
        name("text"),
        name("table"),
        name("drawing"),
        name("style"),
    )
}

pub fn letter(bed: &Bed) -> String {
    let body = "<office:body><office:text>\
         <text:h text:outline-level=\"1\">The orchard</text:h>\
         <text:p>Apples are <text:span>red</text:span> in autumn.</text:p>\
         <text:p>Pears are green.</text:p>\
         <table:table table:name=\"Harvest\"><table:table-column \
         table:number-columns-repeated=\"2\"/><table:table-row><table:table-cell>\
         <text:p>Tree</text:p></table:table-cell><table:table-cell><text:p>Crates</text:p>\
         </table:table-cell></table:table-row></table:table>\
         <text:p>The last line.</text:p></office:text></office:body>";
    write(bed, "letter.fodt", flat_odf("text", body))
}

pub fn prices(bed: &Bed) -> String {
    let rows = [
        ["Item", "Price"],
        ["Apple", "3"],
        ["Pear", "4"],
        ["Plum", "5"],
    ];
    let mut table = String::new();
    for row in rows {
        table += "<table:table-row>";
        for cell in row {
            let _ = match cell.parse::<u32>() {
                Ok(n) => write!(
                    table,
                    "<table:table-cell office:value-type=\"float\" office:value=\"{n}\">"
                ),
                Err(_) => write!(table, "<table:table-cell office:value-type=\"string\">"),
            };
            let _ = write!(table, "<text:p>{cell}</text:p></table:table-cell>");
        }
        table += "</table:table-row>";
    }
    let body = format!(
        "<office:body><office:spreadsheet><table:table table:name=\"Prices\">{table}</table:table>\
         <table:table table:name=\"Other\"><table:table-row><table:table-cell/></table:table-row>\
         </table:table></office:spreadsheet></office:body>"
    );
    write(bed, "prices.fods", flat_odf("spreadsheet", &body))
}

pub fn slides(bed: &Bed) -> String {
    let slide = |name: &str, words: &str| {
        format!(
            "<draw:page draw:name=\"{name}\" draw:master-page-name=\"Plain\"><draw:frame \
             svg:width=\"20cm\" svg:height=\"3cm\" svg:x=\"3cm\" svg:y=\"3cm\"><draw:text-box>\
             <text:p>{words}</text:p></draw:text-box></draw:frame></draw:page>"
        )
    };
    let body = format!(
        "<office:automatic-styles><style:page-layout style:name=\"PM\"/></office:automatic-styles>\
         <office:master-styles><style:master-page style:name=\"Plain\" \
         style:page-layout-name=\"PM\"/></office:master-styles><office:body><office:presentation>\
         {}{}</office:presentation></office:body>",
        slide("Opening", "Apples are red"),
        slide("Ending", "Pears are green")
    );
    write(bed, "talk.fodp", flat_odf("presentation", &body))
}

/// The page for browsers. It logs its events.
pub const PAGE: &str = "<h1>The orchard</h1>\
    <p>First paragraph of plain text with a <a href='#x'>link inside</a> and more.</p>\
    <div>Bare words in a div</div><pre>int x = 1;</pre>\
    <section>Words of a section<p>Nested paragraph</p></section>\
    <ul><li>Apples</li><li>Pears</li></ul>\
    <table><tr><th>Tree</th><th>Crates</th></tr><tr><td>Plum</td><td>12</td></tr></table>\
    <button onclick=\"log('clicked'); \
    document.getElementById('out').textContent = 'It was pressed'\">Press me</button>\
    <label>Name <input id='name' oninput=\"log('name', this.value)\"></label>\
    <p id='out'>Nothing yet</p><div style='height:3000px'></div><p>Far below the screen</p>";

/// A folder with files and a subfolder.
pub fn folder(bed: &Bed) -> String {
    let folder = bed.path("orchard");
    fs::create_dir_all(folder.join("Cellar")).unwrap();
    fs::write(folder.join("apples.txt"), "red").unwrap();
    fs::write(folder.join("pears.txt"), "green").unwrap();
    fs::write(folder.join("plums.csv"), "a,b").unwrap();
    text(&folder)
}

/// A PDF of two pages, ISO 32000-1, with lines of Helvetica.
pub fn pdf(bed: &Bed) -> String {
    let page = |lines: &[&str]| {
        let mut stream = String::from("BT /F1 20 Tf 60 740 Td 26 TL ");
        for line in lines {
            let _ = write!(stream, "({line}) Tj T* ");
        }
        stream += "ET";
        format!("<< /Length {} >> stream\n{stream}\nendstream", stream.len())
    };
    let leaf = |content: u32| {
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {content} 0 R \
             /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> \
             >> >>"
        )
    };
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>".to_owned(),
        leaf(5),
        leaf(6),
        page(&[
            "The orchard",
            "Apples are red in autumn.",
            "Pears are green.",
        ]),
        page(&["The second page", "Plums are neither."]),
    ];
    let mut file = String::from("%PDF-1.4\n");
    let mut offsets = Vec::new();
    for (i, object) in objects.iter().enumerate() {
        offsets.push(file.len());
        let _ = write!(file, "{} 0 obj\n{object}\nendobj\n", i + 1);
    }
    let table = file.len();
    let _ = write!(file, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for offset in offsets {
        let _ = writeln!(file, "{offset:010} 00000 n ");
    }
    let _ = write!(
        file,
        "trailer << /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n",
        objects.len() + 1
    );
    write(bed, "orchard.pdf", file)
}

pub fn drawing(bed: &Bed) -> String {
    let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"400\" height=\"300\">\
        <rect id=\"box\" x=\"20\" y=\"20\" width=\"120\" height=\"80\" fill=\"green\"/>\
        <text x=\"40\" y=\"200\" font-size=\"32\">Pears are green</text></svg>";
    write(bed, "orchard.svg", svg)
}

/// One second of 440 Hz, 8,000 samples of 16 bits.
pub fn sound(bed: &Bed) -> String {
    const RATE: u32 = 8_000;
    let mut wav = Vec::new();
    wav.extend(b"RIFF");
    wav.extend((36 + 2 * RATE).to_le_bytes());
    wav.extend(b"WAVEfmt ");
    wav.extend(16_u32.to_le_bytes());
    wav.extend([1, 0, 1, 0]);
    wav.extend(RATE.to_le_bytes());
    wav.extend((2 * RATE).to_le_bytes());
    wav.extend([2, 0, 16, 0]);
    wav.extend(b"data");
    wav.extend((2 * RATE).to_le_bytes());
    for i in 0..RATE {
        let at = f64::from(i) * 440.0 * std::f64::consts::TAU / f64::from(RATE);
        wav.extend(((at.sin() * 12_000.0) as i16).to_le_bytes());
    }
    write(bed, "tone.wav", wav)
}

/// A picture of 200 by 150 pixels.
pub fn picture(bed: &Bed) -> String {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 200, 150);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().unwrap();
    let pixels: Vec<u8> = (0..200 * 150_u32)
        .flat_map(|i| [(i % 200) as u8, 90, 120])
        .collect();
    writer.write_image_data(&pixels).unwrap();
    writer.finish().unwrap();
    write(bed, "orchard.png", bytes)
}

pub const PASSWORD: &str = "pear-and-plum";

/// A password database with one entry.
pub fn database(bed: &Bed) -> PathBuf {
    let path = bed.path("orchard.kdbx");
    let file = text(&path);
    let give = |args: &[&str], input: &str| {
        let mut child = bed
            .command("keepassxc-cli")
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        assert!(child.wait().unwrap().success(), "keepassxc-cli {args:?}");
    };
    give(
        &["db-create", "--set-password", &file],
        &format!("{PASSWORD}\n{PASSWORD}\n"),
    );
    give(
        &["add", "-u", "gardener", &file, "Orchard gate"],
        &format!("{PASSWORD}\n"),
    );
    path
}

/// VLC's program, which refuses to run as root: a copy that calls getppid instead of geteuid, as is
/// usual in containers.
pub fn vlc(bed: &Bed) -> String {
    let (asks, instead) = (b"geteuid\0", b"getppid\0");
    let mut program = fs::read("/usr/bin/vlc").unwrap();
    let at = program.windows(asks.len()).position(|w| w == asks);
    if let Some(at) = at {
        program[at..at + asks.len()].copy_from_slice(instead);
    }
    let copy = bed.path("vlc");
    fs::write(&copy, program).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
    text(&copy)
}

/// A program of the testbed.
pub fn app(name: &str) -> String {
    format!("{}/apps/{name}", env!("CARGO_MANIFEST_DIR"))
}

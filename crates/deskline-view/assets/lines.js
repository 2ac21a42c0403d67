// The lines of a link: the changes, the whole screen, the answer to the model, the call.
import { cell, el } from "./dom.js";
import { VirtualList } from "./virtual.js";

const HEIGHT = 22;
/** The number of changes that are shown at first. */
const SHOWN = 300;
const KINDS = { "+": "add", "-": "del", "~": "mod" };

export class Lines {
  /** `outline(marks)` is called with the elements to outline on the picture. */
  constructor(outline) {
    this.outline = outline;
    this.tab = "changes";
    this.tabs = el("div", { className: "tabs", role: "tablist", ariaLabel: "Lines" });
    this.find = el("input", { type: "search", className: "find", placeholder: "Filter lines", ariaLabel: "Filter lines" });
    this.find.addEventListener("input", () => this.filter());
    this.sheet = el("div", { className: "sheet", tabIndex: 0 });
    this.box = el("div", { className: "scroller mono", tabIndex: 0 });
    this.list = new VirtualList(this.box, HEIGHT, (index) => this.row(this.listed[index]));
    const panel = el("div", { className: "lines" }, this.sheet, this.box);
    this.element = el("section", { className: "panel", ariaLabel: "Lines" }, this.tabs, panel);
    panel.addEventListener("mouseleave", () => this.outline(this.kept()));
  }

  /** Shows another link's lines; `at` is the line of the file to select. */
  set(link, at) {
    this.link = link;
    this.all = (link.lines ?? []).map((line, index) => ({ ...line, number: index + 1 }));
    // After the diff comes the tree; with an app_switch, another app's.
    this.changes = this.all.filter((line) => line.sign || isNote(line));
    this.screen = this.all.filter((line) => line.role && !line.sign || line.header !== undefined && line.header !== "tree:" && !isNote(line) || line.unknown !== undefined);
    this.byRef = new Map(this.screen.filter((line) => line.ref && line.box).map((line) => [line.ref, line]));
    this.chosen = at === undefined ? undefined : this.all[at - 1];
    this.find.value = "";
    const has = this.all.some((line) => line.sign);
    if (this.chosen) this.tab = this.chosen.sign ? "changes" : "screen";
    else if (this.tab === "changes" && !has && this.screen.length > 0) this.tab = "screen";
    else if (this.tab === "screen" && !this.asked && has) this.tab = "changes";
    this.draw();
  }

  draw() {
    const elements = this.screen.filter((line) => line.role).length;
    const tabs = [
      ["changes", "Changes", this.changes.filter((line) => line.sign).length],
      ["screen", "Screen", elements],
      ["sent", "Answer"],
      ["call", "Call"],
    ];
    this.tabs.replaceChildren(...tabs.map(([tab, name, number]) => {
      const button = el("button", { role: "tab", ariaSelected: String(tab === this.tab) }, name);
      if (number !== undefined) button.append(el("span", { className: "n" }, number.toLocaleString()));
      button.addEventListener("click", () => {
        this.tab = tab;
        this.asked = true;
        this.draw();
      });
      return button;
    }), this.tab === "screen" ? this.find : "");
    this.box.hidden = this.tab !== "screen";
    this.sheet.hidden = this.tab === "screen";
    this.sheet.scrollTop = 0;
    const sheets = { changes: () => this.drawChanges(SHOWN), sent: () => this.drawSent(), call: () => this.drawCall() };
    if (this.tab === "screen") this.filter();
    else this.sheet.replaceChildren(...sheets[this.tab]());
    this.outline(this.kept());
    this.sheet.querySelector(".on")?.scrollIntoView({ block: "center" });
  }

  drawChanges(limit) {
    if (this.changes.length === 0) {
      const why = this.link.lines ? "No changes." : "The tree file is gone, or none was written.";
      return [el("div", { className: "none" }, why)];
    }
    const shown = this.changes.slice(0, limit).map((line) => {
      const row = this.row(line);
      row.classList.add("wrap", "mono");
      return row;
    });
    const left = this.changes.length - limit;
    if (left > 0) {
      const more = el("button", { className: "plain more-lines" }, `${left.toLocaleString()} more`);
      more.addEventListener("click", () => this.sheet.replaceChildren(...this.drawChanges(10 * limit)));
      shown.push(more);
    }
    return shown;
  }

  drawSent() {
    const { answer } = this.link.record;
    if (!answer) return [el("div", { className: "none" }, "Not in the log: the call typed what may be a secret, or it is of an older version.")];
    const parts = answer.split("\n").flatMap((line) => {
      const key = /^[a-z_]+:/.exec(line)?.[0] ?? "";
      return [el("span", { className: "key" }, key), `${line.slice(key.length)}\n`];
    });
    return [el("pre", {}, ...parts)];
  }

  drawCall() {
    const { tool, arguments: given, pid, time, files } = this.link.record;
    const text = `${tool} ${JSON.stringify(given, null, 2)}`;
    const facts = [`pid ${pid ?? "–"}`, time, files.text, files.picture].filter((fact) => fact);
    return [el("pre", {}, text), el("pre", { className: "dim" }, facts.join("\n"))];
  }

  filter() {
    const wanted = this.find.value.toLowerCase();
    const has = (line) => `[${line.role}] ${line.text ?? ""} ${line.value ?? ""} ${line.header ?? ""} #${line.ref}`.toLowerCase().includes(wanted);
    this.listed = wanted === "" ? this.screen : this.screen.filter(has);
    this.box.scrollTop = 0;
    this.list.reset(this.listed.length);
    const at = this.listed.indexOf(this.chosen);
    if (at >= 0) this.list.reveal(at);
  }

  /** Selects the element at a point of the screen: the smallest; of several, the last. */
  pick(x, y) {
    let best;
    for (const line of this.screen) {
      if (!line.box || !line.visible) continue;
      const [left, top, w, h] = line.box;
      if (x < left || y < top || x >= left + w || y >= top + h) continue;
      if (!best || w * h <= best.box[2] * best.box[3]) best = line;
    }
    if (!best) return;
    this.chosen = best;
    this.tab = "screen";
    this.asked = true;
    this.find.value = "";
    this.draw();
  }

  /** The permanent outline, of the selected line. */
  kept() {
    return this.chosen ? [this.mark(this.chosen)] : [];
  }

  mark(line) {
    const box = line.box ?? this.byRef.get(line.ref)?.box;
    return { box, kind: KINDS[line.sign] ?? "" };
  }

  row(line) {
    const kind = KINDS[line.sign] ?? "";
    const row = el("div", { className: `line ${kind}` });
    if (line === this.chosen) row.classList.add("on");
    if (!line.role) {
      row.classList.add("header");
      row.append(line.unknown ?? title(line.header));
      return row;
    }
    if (!line.visible && !line.sign) row.classList.add("hidden");
    if (line.sign) row.append(el("span", { className: "sign" }, line.sign === "-" ? "−" : line.sign));
    row.append(el("span", { className: "role" }, line.role));
    if (line.changes) row.append(...changed(line));
    else if (line.text) row.append(el("span", { className: "text" }, line.text));
    if (line.value) row.append(el("span", { className: "text" }, line.value));
    const more = [...(line.states ?? []), cell(line), line.ref ? `#${line.ref}` : ""].filter((part) => part);
    if (more.length) row.append(el("span", { className: "more" }, more.join(" ")));
    const [x, y, w, h] = line.box ?? [];
    row.title = [line.native, line.box && `${x},${y} ${w}×${h}`, line.visible ? "visible" : "not visible"].filter((part) => part).join(" · ");
    row.addEventListener("mouseenter", () => this.outline([...this.kept(), this.mark(line)]));
    row.addEventListener("click", () => {
      this.chosen = line;
      this.element.querySelectorAll(".line.on").forEach((other) => other.classList.remove("on"));
      row.classList.add("on");
      this.outline(this.kept());
    });
    return row;
  }
}

/** A change: the element's text, unless the change contains it, then old and new. */
function changed({ text, changes }) {
  const says = changes.some(([, old, now]) => now === text || old === text);
  const parts = says || !text ? [] : [el("span", { className: "text" }, text)];
  for (const [name, old, now] of changes) {
    parts.push(el("span", { className: "role" }, name.replace(/^AX/, "").toLowerCase()),
      el("span", { className: "old" }, old), el("span", { className: "more" }, "→"),
      el("span", { className: "new" }, now));
  }
  return parts;
}

/** Whether a header is about the changes, not about the tree. */
function isNote({ header }) {
  return header !== undefined && /^(diff|late|error):/.test(header);
}

function title(header) {
  const late = /^late: (.*) \(since the last answer\)$/.exec(header);
  if (late) return `Since the last answer: ${late[1]}`;
  const diff = /^diff: (.*)$/.exec(header);
  return diff ? `By this call: ${diff[1]}` : header;
}

// The film strip: a row for each link, oldest first.
import { count, dateAndTime, duration, el, id, time } from "./dom.js";
import { shortTool } from "./filters.js";
import { smallBar, total } from "./steps.js";
import { VirtualList } from "./virtual.js";

const HEIGHT = 84;
/** A picture is requested once its row was in view for this time (ms), not while scrolling past. */
const REST = 70;

export class Strip {
  /** `choose(n)` is called when a person selects a link. */
  constructor(data, filters, choose) {
    this.data = data;
    this.filters = filters;
    this.choose = choose;
    this.listed = [];
    this.upTo = 0;
    this.chosen = -1;
    this.box = id("strip");
    this.list = new VirtualList(this.box, HEIGHT, (index) => this.row(this.listed[index]));
    this.newer = id("newer");
    this.newer.addEventListener("click", () => this.last());
    this.box.addEventListener("scroll", () => {
      if (this.list.atEnd()) this.newer.hidden = true;
    }, { passive: true });
  }

  /** Lists the rows that pass the filters. */
  refresh() {
    const rows = this.data.rows;
    this.listed = [];
    for (let n = 0; n < rows.length; n++) this.consider(n);
    this.upTo = rows.length;
    this.list.reset(this.listed.length);
    this.tell();
  }

  /** Inserts older rows before the listed ones. The rows in view stay in view. */
  prepended() {
    const before = this.listed.length;
    const { scrollTop } = this.box;
    this.refresh();
    this.box.scrollTop = scrollTop + (this.listed.length - before) * HEIGHT;
    this.list.update();
  }

  /** Appends new rows; returns whether the end was in view. */
  appended() {
    const atEnd = this.list.atEnd();
    const before = this.listed.length;
    for (; this.upTo < this.data.rows.length; this.upTo++) this.consider(this.upTo);
    this.list.grow(this.listed.length);
    this.tell();
    if (this.listed.length > before && !atEnd) {
      this.missed = (this.newer.hidden ? 0 : this.missed) + this.listed.length - before;
      this.newer.textContent = `↓ ${count(this.missed, "new call")}`;
      this.newer.hidden = false;
    }
    return atEnd && this.listed.length > before;
  }

  consider(n) {
    const row = this.data.rows[n];
    if (row && this.filters.lets(row)) this.listed.push(n);
  }

  tell() {
    const all = this.data.rows.length;
    const shown = this.listed.length;
    id("count").textContent = this.filters.isSet()
      ? `${shown.toLocaleString()} of ${count(all, "call")}` : count(all, "call");
    const nothing = id("nothing");
    nothing.hidden = shown > 0 || !id("hits").hidden;
    nothing.textContent = all === 0
      ? "No calls yet. They appear here as an agent works." : "No call passes these filters.";
  }

  /** Marks a link as selected and scrolls it into view. */
  mark(n) {
    this.chosen = n;
    for (const [index, row] of this.list.shown) {
      row.ariaSelected = String(this.listed[index] === n);
    }
    const index = this.listed.indexOf(n);
    if (index >= 0) this.list.reveal(index);
  }

  /** The link `by` rows further; if the selected one is not listed, the nearest one. */
  beside(by) {
    const index = this.listed.indexOf(this.chosen);
    const from = index >= 0 ? index : this.listed.findLastIndex((n) => n < this.chosen);
    const next = Math.min(this.listed.length - 1, Math.max(0, from + by));
    return this.listed[next];
  }

  last() {
    const n = this.listed.at(-1);
    if (n === undefined) return;
    this.newer.hidden = true;
    this.list.toEnd();
    this.choose(n);
  }

  row(n) {
    const row = this.data.rows[n];
    const thumb = el("div", { className: "thumb" });
    if (row.picture) {
      setTimeout(() => {
        if (!thumb.isConnected) return;
        const picture = el("img", { alt: "", decoding: "async", draggable: false });
        picture.onerror = () => thumb.replaceChildren("gone");
        picture.src = this.data.picture(n);
        thumb.replaceChildren(picture);
      }, REST);
    } else {
      thumb.append("no picture");
    }
    const third = row.error ?? (row.outcome === "cancelled" ? "Cancelled" : null);
    const card = el("div", {
      className: `card ${row.outcome}`,
      role: "option",
      ariaSelected: String(n === this.chosen),
      title: `${row.words}\n${shortTool(row.tool)} · ${dateAndTime(row.ms)}`,
    },
    thumb,
    el("div", { className: "about" },
      el("div", { className: "words" }, row.words),
      third === null
        ? el("div", { className: "meta" },
          el("span", {}, time(row.ms)), el("span", { className: "app" }, row.app ?? ""))
        : el("div", { className: "why" }, third),
      el("div", { className: "figures" },
        third === null ? counts(row.diff) : el("span", {}, time(row.ms)),
        el("span", { className: "took" }, smallBar(row, 72), duration(total(row))))));
    card.addEventListener("click", () => this.choose(n, true));
    return card;
  }
}

/** +2 −1 ~3, without zero counts. */
export function counts(diff) {
  const box = el("span", { className: "counts" });
  if (!diff) return box;
  const part = (sign, number, name) => {
    if (number > 0) box.append(el("span", { className: name }, `${sign}${number}`));
  };
  part("+", diff.added, "add");
  part("−", diff.removed, "del");
  part("~", diff.modified, "mod");
  if (box.childElementCount === 0) box.append(el("span", { className: "none" }, "no change"));
  return box;
}

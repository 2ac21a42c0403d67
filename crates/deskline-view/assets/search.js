// Finds when a text was last on a screen: the matching lines of all screens, newest first.
import { count, el, id, marked, pattern, time } from "./dom.js";
import { VirtualList } from "./virtual.js";

const HEIGHT = 56;
/** The search begins once nothing was typed for this time, in ms. */
const PAUSE = 180;

export class Search {
  /** `choose(n, line)` is called when a person chooses a line; `closed()` when the search is over. */
  constructor(data, choose, closed) {
    this.data = data;
    this.choose = choose;
    this.closed = closed;
    this.hits = [];
    this.chosen = -1;
    this.asked = 0;
    this.field = id("search");
    this.box = id("hits");
    this.list = new VirtualList(this.box, HEIGHT, (index) => this.row(index));
    this.field.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.run(), PAUSE);
    });
  }

  get open() {
    return !this.box.hidden;
  }

  async run() {
    const text = this.field.value.trim();
    if (text === "") return this.close();
    const asked = ++this.asked;
    let found;
    try {
      found = await this.data.search(text);
    } catch (error) {
      found = { error: error.message };
    }
    // A later search has begun, or the search was closed.
    if (asked !== this.asked) return;
    this.pattern = pattern(text);
    this.hits = found.hits ?? [];
    this.chosen = -1;
    id("strip").hidden = true;
    id("newer").hidden = true;
    this.box.hidden = false;
    this.box.scrollTop = 0;
    this.list.reset(this.hits.length);
    const nothing = id("nothing");
    nothing.hidden = this.hits.length > 0;
    nothing.textContent = found.error ?? "On no screen of this run.";
    id("count").textContent = found.more
      ? `the newest ${count(this.hits.length, "line")}` : count(this.hits.length, "line");
  }

  close() {
    this.asked++;
    clearTimeout(this.timer);
    this.field.value = "";
    this.pattern = null;
    if (!this.open) return;
    this.box.hidden = true;
    id("strip").hidden = false;
    this.closed();
  }

  /** Selects the line that is `by` lines further down. */
  move(by) {
    if (this.hits.length === 0) return;
    this.pick(Math.min(this.hits.length - 1, Math.max(0, this.chosen + by)));
  }

  pick(index, opened) {
    this.chosen = index;
    for (const [at, row] of this.list.shown) row.ariaSelected = String(at === index);
    this.list.reveal(index);
    const { n, line } = this.hits[index];
    this.choose(n, line, opened);
  }

  row(index) {
    const hit = this.hits[index];
    const row = this.data.rows[hit.n];
    const text = hit.text.trim();
    const line = el("div", {
      className: "hit", role: "option", title: text, ariaSelected: String(index === this.chosen),
    },
    el("div", { className: "text mono" }, marked(text.slice(0, 400), this.pattern)),
    el("div", { className: "meta" },
      el("span", {}, row ? time(row.ms) : ""),
      el("span", { className: "app" }, row ? `${row.app ?? ""} · ${row.words}` : "")));
    line.addEventListener("click", () => this.pick(index, true));
    return line;
  }
}

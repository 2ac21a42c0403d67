// One link, in full.
import { dateAndTime, el, id } from "./dom.js";
import { Lines } from "./lines.js";
import { Picture } from "./picture.js";
import { timing } from "./steps.js";

export class Link {
  /** `move(by)` goes to another link, `close()` back to the strip. */
  constructor(data, move, close) {
    this.data = data;
    this.place = id("link");
    this.asked = 0;
    this.lines = new Lines((marks) => this.picture.outline(marks));
    this.picture = new Picture(data, (x, y) => this.lines.pick(x, y));
    this.head = el("div", { className: "head" });
    this.notes = el("div", {});
    this.notes.style.display = "contents";
    const body = el("div", { className: "body" }, this.picture.element, this.lines.element);
    this.parts = [this.head, this.notes, body];
    this.back = button("‹", "Back to all calls", "plain back", close);
    this.moves = el("div", { className: "move" },
      button("↑", "Earlier (K)", "plain", () => move(-1)),
      button("↓", "Later (J)", "plain", () => move(1)));
  }

  /** Shows link `n`, with this line of its file selected. */
  async show(n, line) {
    const row = this.data.rows[n];
    const asked = ++this.asked;
    let link;
    try {
      link = await this.data.link(n);
    } catch (error) {
      this.say(error.message);
      return;
    }
    // Another link was selected meanwhile.
    if (asked !== this.asked) return;
    const { record } = link;
    const app = [record.app, record.pid ? `(${record.pid})` : null].filter((part) => part).join(" ");
    this.head.replaceChildren(this.back,
      el("div", { className: "grow" },
        el("h2", {}, row.words),
        el("div", { className: "sub" }, [app, record.tool, dateAndTime(row.ms)].filter((part) => part).join(" · "))),
      this.moves);
    const error = /^error: /.test(record.outcome) ? record.outcome.slice(7) : null;
    const banner = error !== null ? el("div", { className: "banner", role: "alert" }, error)
      : record.outcome === "cancelled" ? el("div", { className: "banner cancelled" }, "Cancelled before its end.") : null;
    this.notes.replaceChildren(...[banner, timing(row)].filter((part) => part));
    if (this.place.firstChild !== this.head) this.place.replaceChildren(...this.parts);
    this.picture.set(link);
    this.lines.set(link, line);
  }

  say(text) {
    this.place.replaceChildren(el("p", { className: "nothing" }, text));
  }
}

function button(text, title, className, action) {
  const made = el("button", { className, title, ariaLabel: title }, text);
  made.addEventListener("click", action);
  return made;
}

// A list of any length: only the rows in view exist.
import { el } from "./dom.js";

/** Rows beyond the edges of the view, so that scrolling does not show gaps. */
const MARGIN = 8;

export class VirtualList {
  /** `render(index)` creates a row; all rows are `height` pixels tall. */
  constructor(scroller, height, render) {
    this.scroller = scroller;
    this.height = height;
    this.render = render;
    this.count = 0;
    this.shown = new Map();
    this.space = el("div", { className: "space", role: "presentation" });
    scroller.append(this.space);
    scroller.addEventListener("scroll", () => this.schedule(), { passive: true });
    new ResizeObserver(() => this.schedule()).observe(scroller);
  }

  /** Sets the number of rows. Visible rows are created anew. */
  reset(count) {
    this.count = count;
    this.space.style.height = `${count * this.height}px`;
    for (const row of this.shown.values()) row.remove();
    this.shown.clear();
    this.update();
  }

  /** Adds rows at the end. Visible rows stay. */
  grow(count) {
    this.count = count;
    this.space.style.height = `${count * this.height}px`;
    this.update();
  }

  schedule() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.update();
    });
  }

  update() {
    const { scrollTop, clientHeight } = this.scroller;
    const first = Math.max(0, Math.floor(scrollTop / this.height) - MARGIN);
    const end = Math.min(this.count, Math.ceil((scrollTop + clientHeight) / this.height) + MARGIN);
    for (const [index, row] of this.shown) {
      if (index < first || index >= end) {
        row.remove();
        this.shown.delete(index);
      }
    }
    for (let index = first; index < end; index++) {
      if (this.shown.has(index)) continue;
      const row = this.render(index);
      row.classList.add("row");
      row.style.transform = `translateY(${index * this.height}px)`;
      row.style.height = `${this.height}px`;
      this.shown.set(index, row);
      this.space.append(row);
    }
  }

  /** Scrolls so that the row is in view, in the middle if it was not. */
  reveal(index) {
    const { scrollTop, clientHeight } = this.scroller;
    const top = index * this.height;
    if (top < scrollTop || top + this.height > scrollTop + clientHeight) {
      const far = top < scrollTop - clientHeight || top > scrollTop + 2 * clientHeight;
      const above = top < scrollTop;
      if (far) this.scroller.scrollTop = top - (clientHeight - this.height) / 2;
      else this.scroller.scrollTop = above ? top : top + this.height - clientHeight;
    }
    this.update();
  }

  /** Whether the end is in view. */
  atEnd() {
    const { scrollTop, clientHeight, scrollHeight } = this.scroller;
    return scrollTop + clientHeight >= scrollHeight - this.height;
  }

  toEnd() {
    this.scroller.scrollTop = this.count * this.height;
    this.update();
  }
}

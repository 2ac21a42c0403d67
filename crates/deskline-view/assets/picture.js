// The picture of a link, with the one before it, and outlines of elements.
import { el } from "./dom.js";

const MODES = [["after", "After"], ["before", "Before"], ["slide", "Slide"], ["both", "Side by side"]];

export class Picture {
  /** `pick(x, y)` is called with the point of the screen that a person clicks. */
  constructor(data, pick) {
    this.data = data;
    this.pick = pick;
    this.mode = "after";
    this.cut = 50;
    this.tabs = el("div", { className: "tabs", role: "tablist", ariaLabel: "Picture" });
    this.stage = el("div", { className: "stage" });
    this.element = el("section", { className: "panel", ariaLabel: "Picture" }, this.tabs, this.stage);
    this.buttons = MODES.map(([mode, name]) => {
      const button = el("button", { role: "tab" }, name);
      button.addEventListener("click", () => this.show(mode));
      this.tabs.append(button);
      return [mode, button];
    });
    new ResizeObserver(() => this.fit()).observe(this.stage);
  }

  /** Shows another link's picture. */
  set(link) {
    this.link = link;
    this.marks = [];
    this.draw();
  }

  show(mode) {
    this.mode = mode;
    this.draw();
  }

  /** The next or the previous way to show the pictures; while sliding, moves the edge. */
  step(by) {
    if (!this.link?.before) return;
    if (this.mode === "slide") {
      this.slide(this.cut + 8 * by);
      return;
    }
    const index = MODES.findIndex(([mode]) => mode === this.mode);
    this.show(MODES[Math.min(MODES.length - 1, Math.max(0, index + by))][0]);
  }

  draw() {
    const { picture, before, n } = this.link;
    const mode = before && picture ? this.mode : "after";
    for (const [name, button] of this.buttons) {
      button.ariaSelected = String(name === mode);
      button.disabled = name !== "after" && !(before && picture);
    }
    this.shots = [];
    if (!picture) {
      this.stage.replaceChildren(el("div", { className: "none" }, "No picture."));
      return;
    }
    const after = () => this.shot(n, picture);
    const old = () => this.shot(before.n, before.place);
    const drawn = {
      after: () => [after()],
      before: () => [old()],
      both: () => [old(), after()],
      slide: () => [this.sliding(this.link)],
    }[mode]();
    if (mode === "both") {
      drawn[0].append(el("figcaption", {}, "before"));
      drawn[1].append(el("figcaption", {}, "after"));
    }
    this.stage.replaceChildren(...drawn);
    this.fit();
    this.outline(this.marks);
  }

  /** One picture with a layer for outlines. */
  shot(n, place) {
    const image = el("img", {
      alt: "The window", src: this.data.picture(n), width: place.width, height: place.height, draggable: false,
    });
    const over = el("div", { className: "over" });
    const shot = el("figure", { className: "shot" }, image, over);
    image.onerror = () => shot.replaceWith(el("div", { className: "none" }, "The picture is gone."));
    shot.addEventListener("click", (event) => {
      if (!place.origin) return;
      const { left, top, width } = image.getBoundingClientRect();
      const unit = place.width / width / place.scale;
      const [x, y] = place.origin;
      this.pick(x + (event.clientX - left) * unit, y + (event.clientY - top) * unit);
    });
    this.shots.push({ n, place, image, over });
    return shot;
  }

  /** Both pictures at their own places on the screen; the earlier one is on top, and is cut off. */
  sliding({ n, picture, before }) {
    const union = around(picture, before.place);
    const layer = (n, place) => {
      const image = el("img", { alt: "", src: this.data.picture(n), draggable: false });
      setBox(image, ...within(union, pictureBox(place)));
      return el("div", { className: "over" }, image);
    };
    const canvas = el("div", { className: "canvas" });
    const over = el("div", { className: "over" });
    this.upper = layer(before.n, before.place);
    this.edge = el("div", { className: "edge" });
    this.range = el("input", {
      type: "range", min: 0, max: 100, step: 0.5, className: "cut", ariaLabel: "Before and after",
    });
    this.range.addEventListener("input", () => this.slide(Number(this.range.value)));
    const shot = el("figure", { className: "shot" }, canvas, layer(n, picture), this.upper, over, this.edge,
      el("figcaption", {}, "before"), el("figcaption", { className: "right" }, "after"), this.range);
    this.shots.push({ n, place: union, image: canvas, over });
    this.slide(this.cut);
    return shot;
  }

  slide(cut) {
    this.cut = Math.min(100, Math.max(0, cut));
    this.range.value = String(this.cut);
    this.upper.style.clipPath = `inset(0 ${100 - this.cut}% 0 0)`;
    this.edge.style.left = `${this.cut}%`;
  }

  /** Scales the pictures down until they fit; never enlarges them. */
  fit() {
    const wide = this.stage.clientWidth;
    const side = getComputedStyle(this.stage.parentElement.parentElement ?? this.stage);
    const stacked = !side.gridTemplateColumns.includes(" ");
    const tall = stacked ? Math.max(240, innerHeight * 0.55) : this.stage.clientHeight;
    for (const { place, image } of this.shots ?? []) {
      const each = (wide - 10 * (this.shots.length - 1)) / this.shots.length;
      const ratio = Math.min(1 / place.scale, each / place.width, tall / place.height);
      image.style.width = `${Math.floor(place.width * ratio)}px`;
      image.style.height = `${Math.floor(place.height * ratio)}px`;
    }
  }

  /** Outlines these elements: `{box, kind}` in screen coordinates; a removed one on the old picture. */
  outline(marks) {
    this.marks = marks;
    for (const { place, over, n } of this.shots ?? []) {
      const here = marks.filter(({ kind }) => this.shots.length < 2 || (kind === "del") === (n !== this.link.n));
      over.replaceChildren(...here.filter(({ box }) => box && place.origin).map(({ box, kind }) => {
        const outline = el("div", { className: `outline ${kind}` });
        setBox(outline, ...within(place, box));
        return outline;
      }));
    }
  }
}

/** A picture's bounds on the screen. */
function pictureBox({ origin, width, height, scale }) {
  return [...(origin ?? [0, 0]), width / scale, height / scale];
}

/** The part of the screen that holds both pictures. */
function around(one, other) {
  const [[x, y, w, h], [x2, y2, w2, h2]] = [pictureBox(one), pictureBox(other)];
  const origin = [Math.min(x, x2), Math.min(y, y2)];
  const { scale } = one;
  const width = (Math.max(x + w, x2 + w2) - origin[0]) * scale;
  const height = (Math.max(y + h, y2 + h2) - origin[1]) * scale;
  return { origin, width, height, scale };
}

/** Bounds on the screen as percentages of a picture. */
function within(place, [x, y, w, h]) {
  const [left, top, width, height] = pictureBox(place);
  return [(x - left) / width, (y - top) / height, w / width, h / height].map((part) => part * 100);
}

function setBox(element, left, top, width, height) {
  Object.assign(element.style, {
    left: `${left}%`, top: `${top}%`, width: `${width}%`, height: `${height}%`,
  });
}

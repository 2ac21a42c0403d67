// Elements. Texts are only ever set as text, because screen contents are hostile.

/** Makes an element. Properties are set as properties; strings among the children become text. */
export function el(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (key in element) element[key] = value;
    else element.setAttribute(key, value);
  }
  const given = children.flat().filter((child) => child !== null && child !== undefined);
  element.append(...given.map((child) => (typeof child === "string" ? visible(child) : child)));
  return element;
}

/** The text, with characters that could hide or reorder it as `\u{202e}`. */
export function visible(text) {
  return text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
}

/** The element with this id. */
export function id(name) {
  return document.getElementById(name);
}

const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const exact = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium", timeStyle: "medium",
});

/** The time of day, after the date if that is not today. */
export function time(ms) {
  const date = new Date(ms);
  const today = date.toDateString() === new Date().toDateString();
  return today ? clock.format(date) : `${day.format(date)}, ${clock.format(date)}`;
}

/** Date and time. */
export function dateAndTime(ms) {
  return exact.format(new Date(ms));
}

/** A duration: 84 ms, 1.2 s. */
export function duration(ms) {
  if (ms >= 9950) return `${Math.round(ms / 1000)} s`;
  if (ms >= 995) return `${(ms / 1000).toFixed(1)} s`;
  return ms < 0.95 ? "<1 ms" : `${Math.round(ms)} ms`;
}

/** 1 call, 2 calls. */
export function count(number, thing) {
  return `${number.toLocaleString()} ${thing}${number === 1 ? "" : "s"}`;
}

/** The text, with matches of the pattern in <mark>. */
export function marked(text, pattern) {
  const parts = [];
  let at = 0;
  if (pattern) {
    for (const match of text.matchAll(pattern)) {
      if (match[0] === "" || parts.length > 40) continue;
      parts.push(text.slice(at, match.index), el("mark", {}, match[0]));
      at = match.index + match[0].length;
    }
  }
  parts.push(text.slice(at));
  return parts;
}

/** The pattern as a RegExp close to the server's; null if this browser cannot parse it. */
export function pattern(text, flags = "gi") {
  try {
    return new RegExp(text, flags);
  } catch {
    return null;
  }
}

/** The position of a cell in its table: `row:4 col:2`. */
export function cell({ cell }) {
  return cell ? `row:${cell[0]} col:${cell[1]}` : null;
}

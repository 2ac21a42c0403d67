// The page: puts the parts together, and the keyboard.
import { id, visible } from "./dom.js";
import { Filters } from "./filters.js";
import { Link } from "./link.js";
import { Search } from "./search.js";
import { source } from "./source.js";
import { Strip } from "./strip.js";

const data = source();
const filters = new Filters(id("filters"), () => {
  search.close();
  strip.refresh();
  const chosen = strip.listed.includes(strip.chosen) ? strip.chosen : strip.listed.at(-1);
  if (chosen !== undefined) choose(chosen);
});
const strip = new Strip(data, filters, (n, opened) => choose(n, undefined, opened));
const search = new Search(data, choose, () => {
  strip.refresh();
  strip.mark(strip.chosen);
});
const link = new Link(data, move, () => document.body.classList.remove("opened"));

/** Shows a link; if `opened`, a phone shows it instead of the strip. */
function choose(n, line, opened) {
  strip.mark(n);
  if (opened) document.body.classList.add("opened");
  history.replaceState(null, "", `#${n}`);
  link.show(n, line);
}

function move(by) {
  if (search.open) return search.move(by);
  const n = strip.beside(by);
  if (n !== undefined) choose(n);
}

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  ArrowRight: () => link.picture.step(1),
  ArrowLeft: () => link.picture.step(-1),
  g: () => strip.listed.length && choose(strip.listed[0]),
  G: () => strip.last(),
  d: theme,
  "/": () => search.field.focus(),
  Escape: () => {
    if (document.body.classList.contains("opened")) document.body.classList.remove("opened");
    else if (search.open) search.close();
    else if (filters.isSet()) { filters.clear(); strip.refresh(); strip.mark(strip.chosen); }
  },
};

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const field = event.target.closest?.("input:not([type=range]), select");
  if (field) {
    if (event.key === "Escape") {
      if (field === search.field) search.close();
      field.blur();
    } else if (field === search.field && ["ArrowDown", "ArrowUp", "Enter"].includes(event.key)) {
      event.preventDefault();
      search.move(event.key === "ArrowUp" ? -1 : 1);
    }
    return;
  }
  const key = Object.hasOwn(KEYS, event.key) ? event.key : event.key.toLowerCase();
  if (!Object.hasOwn(KEYS, key)) return;
  event.preventDefault();
  KEYS[key]();
});

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme
    ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}

async function start() {
  id("theme").addEventListener("click", theme);
  const wanted = /^#\d+$/.test(location.hash) ? Number(location.hash.slice(1)) : undefined;
  let shown = false;
  const changed = () => {
    filters.offer(data.rows);
    if (shown) strip.prepended();
    else {
      strip.refresh();
      strip.list.toEnd();
    }
    const n = data.rows[wanted] ? wanted : strip.listed.at(-1);
    if (n !== undefined && strip.chosen !== n && (!shown || n === wanted)) choose(n);
    shown = true;
    id("journal").textContent = visible(data.journal);
    id("journal").title = data.journal;
  };
  let from;
  try {
    from = await data.load(changed);
  } catch (error) {
    link.say(error.message);
    return;
  }
  const live = id("live");
  data.follow(from, () => {
    filters.offer(data.rows.slice(strip.upTo));
    const last = strip.chosen === -1 || strip.chosen === strip.listed.at(-1);
    // A search and an older link that is shown stay as they are.
    if (strip.appended() && last && !search.open) choose(strip.listed.at(-1));
  }, (connected) => {
    live.hidden = false;
    live.textContent = connected ? "live" : "not connected";
    live.classList.toggle("lost", !connected);
  });
}

start();

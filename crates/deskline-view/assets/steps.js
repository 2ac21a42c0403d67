// The steps of a link as a bar.
import { duration, el } from "./dom.js";

/** Steps of a colour: reading, acting, waiting, looking, the rest. */
const COLOURS = {
  resolve: 0, traverse: 0, checkpoint: 4, sight: 3, act: 1, settle: 2, diff: 0, handoff: 4,
  picture: 3, restore: 4, record: 4,
};

function colour(name) {
  return COLOURS[name] ?? 4;
}

export function total(row) {
  return Object.values(row.steps ?? {}).reduce((sum, ms) => sum + ms, 0);
}

/** A small bar. Its length is the link's duration: `width` for 2 s and more. */
export function smallBar(row, width) {
  const bar = bars(row.steps);
  bar.style.width = `${Math.max(6, Math.min(1, total(row) / 2000) * width)}px`;
  return bar;
}

function bars(steps) {
  const bar = el("div", { className: "steps", ariaHidden: "true" });
  for (const [name, ms] of Object.entries(steps ?? {})) {
    const part = el("i", { className: `s${colour(name)}` });
    part.style.flexGrow = String(ms);
    bar.append(part);
  }
  return bar;
}

/** The bar of a link, with its legend. */
export function timing(row) {
  const steps = Object.entries(row.steps ?? {});
  if (steps.length === 0) return null;
  const whole = total(row);
  const said = ([name, ms]) =>
    el("span", { className: `t${colour(name)}` }, `${name} `, el("b", {}, duration(ms)));
  // Steps that take no time are left out.
  const legend = steps.filter(([, ms]) => ms >= 1 && ms >= whole / 200).map(said);
  const all = el("span", { className: "bare" }, "total ", el("b", {}, duration(whole)));
  const guard = row.guard === null || row.guard === undefined ? null
    : el("span", { className: "bare" }, "guard closed ", el("b", {}, duration(row.guard)));
  return el("div", { className: "timing" }, bars(row.steps),
    el("div", { className: "legend" }, all, ...legend, guard));
}

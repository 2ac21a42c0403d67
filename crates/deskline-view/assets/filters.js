// Filters the listed links by app, tool and outcome.
import { el } from "./dom.js";

const FIELDS = { app: "All apps", tool: "All tools", outcome: "Every outcome" };

/** The short name of a tool: click for click_and_traverse. */
export function shortTool(tool) {
  return tool.replace(/^macos-use_/, "").replace(/_and_traverse$|_traversal$/, "").replaceAll("_", " ");
}

export class Filters {
  constructor(place, changed) {
    this.known = {};
    this.selects = {};
    this.counted = 0;
    for (const [field, all] of Object.entries(FIELDS)) {
      const select = el("select", { ariaLabel: all }, el("option", { value: "" }, all));
      select.addEventListener("change", () => {
        select.classList.toggle("set", select.value !== "");
        changed();
      });
      this.known[field] = new Set();
      this.selects[field] = select;
      place.append(select);
    }
  }

  /** Offers the values that occur in the rows. */
  offer(rows) {
    for (const row of rows) {
      if (!row) continue;
      for (const [field, known] of Object.entries(this.known)) {
        const value = row[field];
        if (!value || known.has(value)) continue;
        known.add(value);
        const name = field === "tool" ? shortTool(value) : value;
        this.selects[field].append(el("option", { value }, name));
      }
    }
  }

  lets(row) {
    return Object.entries(this.selects)
      .every(([field, select]) => select.value === "" || row[field] === select.value);
  }

  isSet() {
    return Object.values(this.selects).some((select) => select.value !== "");
  }

  clear() {
    for (const select of Object.values(this.selects)) {
      select.value = "";
      select.classList.remove("set");
    }
  }
}

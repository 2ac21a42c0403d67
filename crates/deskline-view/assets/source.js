// Where the data comes from: the server, or this file itself if it was exported.
import { cell, id, pattern } from "./dom.js";

/** Rows that are requested at once; fewer the first time, to be quick. */
const FIRST = 300;
const PAGE = 5000;

/** Reads a JSON answer, or throws an error with a message for the person. */
async function ask(path) {
  // `fetch` refuses addresses with a name and a password, which the page's address may have.
  const address = new URL(path, location.origin + location.pathname);
  let answer;
  try {
    answer = await fetch(address);
  } catch {
    throw new Error("The server has ended. Start it again, and open its address.");
  }
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

/** A running server. */
export class Server {
  constructor() {
    this.rows = [];
    this.journal = "";
  }

  /** Reads the newest rows, then the older ones; calls changed() after each part. */
  async load(changed) {
    let part = await ask(`links?last=${FIRST}`);
    this.journal = part.journal;
    this.rows.length = part.total;
    this.add(part.rows);
    changed();
    const from = part.total;
    while (part.first > 0) {
      part = await ask(`links?end=${part.first}&last=${PAGE}`);
      this.add(part.rows);
      changed();
    }
    return from;
  }

  add(rows) {
    for (const row of rows) this.rows[row.n] = row;
  }

  /** Calls changed() for new links, and state(boolean) when the connection opens or ends. */
  follow(from, changed, state) {
    const events = new EventSource(`events?from=${from}`);
    events.onopen = () => state(true);
    events.onerror = () => state(false);
    events.onmessage = (event) => {
      this.add(JSON.parse(event.data));
      changed();
    };
  }

  link(n) {
    return ask(`link/${n}`);
  }

  picture(n) {
    return `picture/${n}`;
  }

  search(text) {
    return ask(`search?q=${encodeURIComponent(text)}`);
  }
}

/** An exported file: all of it is in script elements of type application/json. */
export class Exported {
  constructor() {
    const { journal, rows } = JSON.parse(id("rows").textContent);
    this.journal = journal;
    this.rows = rows;
  }

  async load(changed) {
    changed();
    return this.rows.length;
  }

  follow() {}

  async link(n) {
    return JSON.parse(id(`link-${n}`).textContent);
  }

  picture(n) {
    return `data:image/png;base64,${id(`picture-${n}`)?.textContent ?? ""}`;
  }

  async search(text) {
    const wanted = pattern(text, "i");
    if (!wanted) return { error: "Not a regular expression." };
    const hits = [];
    for (let n = this.rows.length - 1; n >= 0 && hits.length < 300; n--) {
      const { lines } = await this.link(n);
      (lines ?? []).forEach((line, index) => {
        const found = sentence(line);
        if (hits.length < 300 && wanted.test(found)) hits.push({ n, line: index + 1, text: found });
      });
    }
    return { hits, more: hits.length >= 300 };
  }
}

/** Almost the line in the tree file. */
function sentence(line) {
  if (line.header !== undefined) return `# ${line.header}`;
  if (line.unknown !== undefined) return line.unknown;
  const native = line.native ? ` (${line.native})` : "";
  const changes = (line.changes ?? []).map(([name, old, now]) => `${name}: ${old} -> ${now}`);
  const [x, y, w, h] = line.box ?? [];
  const parts = [
    line.late ? "late" : null,
    line.sign,
    `[${line.role}${native}]`,
    line.text,
    changes.length ? `| ${changes.join(", ")}` : null,
    line.box ? `x:${x} y:${y} w:${w} h:${h}` : null,
    line.visible ? "visible" : null,
    ...(line.states ?? []),
    line.value ? `value:${line.value}` : null,
    cell(line),
    line.ref ? `#${line.ref}` : null,
    line.in ? `in #${line.in}` : null,
  ];
  return parts.filter((part) => part).join(" ");
}

/** The data of this page. */
export function source() {
  return id("rows") ? new Exported() : new Server();
}

// The lists below the map: jobs, pods that come or go, and nodes, filtered as the map is, sorted by any column.
const MOST_LISTED = 200;

class Lists {
  constructor(place, cluster, choose, sortBy) {
    this.place = place;
    this.cluster = cluster;
    this.choose = choose;
    this.sortBy = sortBy;
  }

  // The states are those that have a column.
  show(which, sort, passes, states) {
    const made = which === "pods" ? this._pods(passes, states) : which === "nodes" ? this._nodes(passes, states) : this._jobs(passes, states.filter(Boolean));
    const [columns, rows] = made, [by, down] = sort ? [Math.abs(+sort) - 1, +sort < 0] : [-1, false];
    if (by >= 0 && by < columns.length) {
      rows.sort((a, b) => {
        const order = typeof a.keys[by] === "number" ? a.keys[by] - b.keys[by] : `${a.keys[by]}`.localeCompare(`${b.keys[by]}`, "en", { numeric: true });
        return down ? -order : order;
      });
    }
    const head = columns.map((name, n) => el("th", { scope: "col", class: name.startsWith("#") ? "number" : "", "aria-sort": by === n ? (down ? "descending" : "ascending") : false },
      el("button", { type: "button", class: "sort", onclick: () => this.sortBy(by === n && !down ? `${-n - 1}` : `${n + 1}`) }, name.replace(/^#/, ""), by === n && (down ? " ▼" : " ▲"))));
    const body = rows.slice(0, MOST_LISTED).map((row) => el("tr", row.what || {}, row.cells()));
    const left = rows.length - body.length;
    const caption = rows.length ? `${count(rows.length, "row")}${left > 0 ? `; the first ${MOST_LISTED} are shown: narrow the search to see the others` : ""}` : "Nothing passes the filters.";
    this.place.replaceChildren(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `List of ${which}` },
      el("table", {}, el("caption", { "aria-live": "polite" }, caption), el("thead", {}, el("tr", {}, head)), el("tbody", {}, body))));
  }

  _link(kind, name, text) {
    return el("button", { type: "button", class: "link", onclick: () => this.choose(`${kind}:${name}`) }, text || breakable(name));
  }

  _jobs(passes, states) {
    const { cluster } = this;
    const columns = ["job", "queue", "#priority", "#pods pending", ...states.map((state) => cluster.states[state])];
    const rows = cluster.jobs.filter((job) => passes.job(job)).map((job) => {
      const pending = job.tasks.filter((task) => task.fate === "P").length;
      const told = states.map((state) => this._counts(state, job));
      const queue = job.queue >= 0 ? cluster.queues[job.queue] : "";
      return { keys: [job.name, queue, job.priority, pending, ...told], what: { "data-job": job.id }, cells: () => [el("th", { scope: "row" }, this._link("job", job.name)), el("td", {}, queue),
        el("td", { class: "number" }, `${job.priority}`), el("td", { class: "number" }, `${pending}`), told.map((text) => el("td", { class: text.includes("evicted") ? "worse" : "" }, text || "unchanged"))] };
    });
    if (!rows.some((row) => row.keys[2] !== rows[0].keys[2])) return [columns, rows];
    return [columns, rows.sort((a, b) => b.keys[2] - a.keys[2])];
  }

  _counts(state, job) {
    const by = new Map();
    for (const task of job.tasks) {
      const [fate] = this.cluster.fate(state, task);
      if (fate && fate !== "-" && fate !== "E") by.set(fate, (by.get(fate) || 0) + 1);
    }
    const words = { S: "start", W: "wait for capacity", H: "allocated", V: "evicted", P: "pending" };
    const told = ["S", "W", "H", "V", "P"].filter((fate) => by.has(fate)).map((fate) => `${by.get(fate)} ${words[fate]}`);
    const victims = this.cluster.victimsFor(state, job).length;
    return [...told, ...(victims ? [`evicts ${victims}`] : [])].join(", ");
  }

  // Pods of one job that ask the same and fare the same in every state are one row with a count.
  _pods(passes, states) {
    const { cluster } = this, rows = new Map();
    for (const task of cluster.tasks) {
      if (!passes.task(task)) continue;
      const fates = states.map((state) => cluster.fate(state, task));
      const key = JSON.stringify([task.job, task.job < 0 ? task.key : 0, task.ask, task.priority, fates.map(([fate]) => fate)]);
      const seen = rows.get(key);
      if (seen) { seen.n++; fates.forEach(([, node], s) => seen.nodes[s].add(node)); }
      else rows.set(key, { task, n: 1, fates, nodes: fates.map(([, node]) => new Set([node])) });
    }
    const columns = ["pod", "#alike", "#priority", "requests", ...states.map((state) => cluster.states[state])];
    return [columns, [...rows.values()].map((row) => {
      const told = row.fates.map(([fate], s) => this._told(fate, row.nodes[s]));
      const asks = cluster.asks[row.task.ask][0];
      return { keys: [row.task.key, row.n, row.task.priority, asks, ...told], what: { "data-task": row.task.id }, cells: () => [el("th", { scope: "row" }, this._link("task", row.task.key), row.n > 1 && ` and ${row.n - 1} alike`),
        el("td", { class: "number" }, `${row.n}`), el("td", { class: "number" }, `${row.task.priority}`), el("td", {}, asks),
        told.map((text, s) => el("td", { class: row.fates[s][0] === "V" ? "worse" : COMES.has(row.fates[s][0]) ? "better" : "" }, text))] };
    })];
  }

  _told(fate, nodes) {
    const names = [...nodes].filter((node) => node >= 0).map((node) => this.cluster.nodes[node].name);
    const where = names.length === 1 ? names[0] : names.length ? count(names.length, "node") : "";
    return `${FATES[fate]}${where && ` (${where})`}`;
  }

  _nodes(passes, states) {
    const { cluster } = this, after = states.filter(Boolean), name = (state) => cluster.states[state];
    const columns = ["node", ...states.map((state) => `#full ${name(state)}`), ...after.map((state) => `#placed, ${name(state)}`), ...after.map((state) => `#evicted, ${name(state)}`)];
    return [columns, cluster.nodes.filter((node) => passes.node(node)).map((node) => {
      const fills = states.map((state) => Math.round(100 * cluster.fill(state, node.id)));
      const changes = after.map((state) => cluster.changes(state, node.id));
      const numbers = [...changes.map((one) => one.comes), ...changes.map((one) => one.goes)];
      return { keys: [node.name, ...fills, ...numbers], cells: () => [el("th", { scope: "row" }, this._link("node", node.name)),
        fills.map((fill) => el("td", { class: "number" }, `${fill} %`)), numbers.map((n) => el("td", { class: "number" }, `${n}`))] };
    })];
  }
}

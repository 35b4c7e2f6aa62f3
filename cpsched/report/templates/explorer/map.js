// All nodes as cells: as full as the node, marked where tasks come or go. One stop of the Tab key; arrow keys walk.
const PALETTE = 8;
const MOST_NAMED = 40; // so few cells have room for the names of their nodes

class NodeMap {
  constructor(place, cluster, choose) {
    this.place = place;
    this.cluster = cluster;
    this.choose = choose;
    this.cells = [];
    this.grouped = null;
    this.lit = new Map();
    place.addEventListener("keydown", (event) => this._walk(event));
    place.addEventListener("click", (event) => {
      const cell = event.target.closest(".cell");
      if (cell) choose(`node:${cluster.nodes[cell.dataset.node].name}`);
    });
  }

  // Cells are made once per grouping; a change of state or colour only changes them.
  layOut(way) {
    if (this.grouped === way) return;
    this.grouped = way;
    const { cluster } = this, grouping = cluster.groupings[way];
    const groups = new Map();
    for (const node of cluster.nodes) {
      const name = grouping ? grouping.names[grouping.of[node.id]] : "";
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(node);
    }
    this.cells = [];
    this.lit = new Map();
    const sorted = [...groups].sort(([one], [other]) => one.localeCompare(other, "en", { numeric: true }));
    const parts = sorted.map(([name, nodes]) => {
      const cells = nodes.map((node) => {
        const cell = el("button", { class: "cell", type: "button", tabindex: "-1", "data-node": node.id }, el("b", {}));
        if (cluster.nodes.length <= MOST_NAMED) cell.append(el("span", {}, node.name));
        this.cells[node.id] = cell;
        return cell;
      });
      const title = name && el("h4", {}, name, el("span", { class: "quiet" }, ` ${count(nodes.length, "node")}`));
      return el("div", { class: "group", role: "group", "aria-label": name || "All nodes" }, title, el("div", { class: "cells" }, cells));
    });
    this.place.replaceChildren(...parts);
    this.order = [...this.place.querySelectorAll(".cell")];
    if (this.order.length) this.order[0].tabIndex = 0;
    this.place.classList.toggle("few", this.order.length <= 150);
    this.place.classList.toggle("named", this.order.length <= MOST_NAMED);
    this.place.classList.toggle("many", this.order.length > 1000);
  }

  // Every cell as it is in the state; beside another state, its left half shows that one, and "≠" marks what differs.
  paint(state, versus, colour, shown, chosen) {
    const { cluster } = this, legend = new Map(), percent = (part) => `${Math.round(100 * Math.min(1, part))}%`;
    for (const node of cluster.nodes) {
      const cell = this.cells[node.id];
      const fill = cluster.fill(state, node.id), { comes, goes } = cluster.changes(state, node.id);
      const differs = versus !== null && cluster.differs(node.id, [versus, state]);
      const mark = versus !== null ? (differs ? "≠" : "") : comes && goes ? "±" : comes ? "+" : goes ? "−" : "";
      const classes = ["cell"];
      if (!shown.has(node.id)) classes.push("out");
      if (node.name === chosen) classes.push("chosen");
      if (versus !== null) classes.push(differs ? "split differs" : "split");
      else if (colour === "change") classes.push(comes && goes ? "both" : comes ? "comes" : goes ? "goes" : "same");
      else if (colour !== "fill") {
        const key = this._heldMost(state, node.id, colour);
        if (key !== null) {
          if (!legend.has(key)) legend.set(key, 0);
          legend.set(key, legend.get(key) + 1);
          cell.dataset.key = key;
        } else delete cell.dataset.key;
      }
      cell.className = classes.join(" ");
      if (cell.fill !== fill) cell.style.setProperty("--fill", percent(fill));
      cell.fill = fill;
      if (versus !== null) cell.style.setProperty("--other", percent(cluster.fill(versus, node.id)));
      this._mark(cell, mark);
      const told = this.told(state, versus, node, differs);
      if (cell.title !== told) {
        cell.title = told;
        cell.setAttribute("aria-label", told);
      }
      if (node.name === chosen) this._stopAt(cell);
    }
    return this._coloured(legend);
  }

  _mark(cell, mark) {
    const shown = cell.firstElementChild;
    if (shown.textContent !== mark) shown.textContent = mark;
  }

  told(state, versus, node, differs) {
    const now = this._toldOf(state, node);
    if (versus === null) return `${node.name}: ${now}`;
    return `${node.name}: ${differs ? "differs" : "the same"}; ${this.cluster.states[versus]} ${this._toldOf(versus, node)}; ${this.cluster.states[state]} ${now}`;
  }

  _toldOf(state, node) {
    const { fill, pods, comes, goes } = this.cluster.summary(state, node.id);
    const changes = [comes && `${comes} placed`, goes && `${goes} evicted`].filter(Boolean).join(", ");
    return `${Math.round(100 * fill)} % full, ${count(pods, "pod")}${changes && `, ${changes}`}`;
  }

  // Marks the nodes of what is chosen or pointed at; only cells that change are touched.
  light(lit) {
    for (const node of this.lit.keys()) this.cells[node].classList.remove(...ROLES);
    for (const [node, roles] of lit) this.cells[node].classList.add(...roles);
    this.lit = lit;
  }

  // What most of the node is taken by: a queue, a job or a priority.
  _heldMost(state, node, colour) {
    const { cluster } = this, sums = new Map();
    for (const [task] of cluster.present(state, node)) {
      const key = colour === "queue" ? cluster.queueOf(task) || "no queue"
        : colour === "job" ? (cluster.jobs[task.job] || { name: "no job" }).name : `${task.priority}`;
      let share = 0;
      cluster.resources.forEach(([name], r) => {
        const size = cluster.size(node, r);
        if (size > 0 && name !== "pods") share = Math.max(share, cluster.asks[task.ask][1][r] / size);
      });
      sums.set(key, (sums.get(key) || 0) + share + 1e-6);
    }
    let best = null;
    for (const [key, sum] of sums) if (best === null || sum > sums.get(best)) best = key;
    return best;
  }

  // The most frequent keys get a colour and a letter of their own, the others share the last.
  _coloured(legend) {
    const keys = [...legend.keys()].sort((a, b) => legend.get(b) - legend.get(a) || (a < b ? -1 : 1));
    const number = new Map(keys.map((key, n) => [key, Math.min(n, PALETTE - 1)]));
    for (const cell of this.cells) {
      const key = cell.dataset.key;
      if (key !== undefined && number.has(key)) {
        cell.classList.add(`hue${number.get(key)}`);
        if (!cell.firstElementChild.textContent && legend.size > 1) this._mark(cell, "abcdefgh"[number.get(key)]);
      }
    }
    return keys.slice(0, PALETTE).map((key, n) => [n === PALETTE - 1 && keys.length > PALETTE ? "all others" : key, n]);
  }

  _stopAt(cell) {
    for (const one of this.place.querySelectorAll('.cell[tabindex="0"]')) one.tabIndex = -1;
    cell.tabIndex = 0;
  }

  _walk(event) {
    const cell = event.target.closest(".cell");
    if (!cell) return;
    const at = this.order.indexOf(cell);
    let next = null;
    if (event.key === "ArrowRight") next = this.order[at + 1];
    else if (event.key === "ArrowLeft") next = this.order[at - 1];
    else if (event.key === "Home") next = this.order[0];
    else if (event.key === "End") next = this.order[this.order.length - 1];
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") next = this._vertical(cell, event.key === "ArrowDown");
    else return;
    event.preventDefault();
    if (!next) return;
    this._stopAt(next);
    next.focus();
  }

  // The nearest cell in the next line, found by where cells are drawn.
  _vertical(cell, down) {
    const from = cell.getBoundingClientRect(), step = down ? 1 : -1;
    let line = null, best = null, distance = Infinity;
    for (let at = this.order.indexOf(cell) + step; at >= 0 && at < this.order.length; at += step) {
      const box = this.order[at].getBoundingClientRect();
      if (down ? box.top <= from.top + 1 : box.top >= from.top - 1) continue;
      if (line === null) line = box.top;
      if (Math.abs(box.top - line) > 1) break;
      const off = Math.abs(box.left - from.left);
      if (off < distance) [best, distance] = [this.order[at], off];
    }
    return best;
  }
}

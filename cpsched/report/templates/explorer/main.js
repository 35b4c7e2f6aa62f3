// Ties the parts together: one state, one function that shows it, and controls that change it.
class Explorer {
  constructor(place, cluster) {
    this.place = place;
    this.cluster = cluster;
    this.state = readState();
    const part = (name) => place.querySelector(`[data-part="${name}"]`);
    this.part = part;
    this.map = new NodeMap(part("map"), cluster, (chosen) => this.set({ chosen }, true));
    this.detail = new Detail(part("detail"), cluster, (chosen) => this.set({ chosen }, true));
    this.lists = new Lists(part("list"), cluster, (chosen) => this.set({ chosen }, true), (sort) => this.set({ sort }));
    this._fillControls();
    this._listen();
    place.hidden = false;
    this.show();
  }

  set(changes, isStep) {
    Object.assign(this.state, changes);
    writeState(this.state, isStep);
    this.show();
    if (isStep && "chosen" in changes && changes.chosen) this.part("detail").focus({ preventScroll: innerWidth >= 900 });
  }

  _fillControls() {
    const { cluster } = this, options = (names) => names.map((name) => el("option", { value: name }, name));
    this.part("queue").append(...options(cluster.queues));
    this.part("priority").append(...options([...new Set(cluster.tasks.map((task) => task.priority))].sort((a, b) => b - a).map(String)));
    this.part("group").append(...options(Object.keys(cluster.groupings)));
    this.part("group").closest("label").hidden = !Object.keys(cluster.groupings).length;
    this.part("names").append(...options(cluster.jobs.slice(0, 500).map((job) => job.name)));
    this._fillStates();
  }

  _fillStates() {
    const inputs = this.cluster.states.map((name, number) => el("label", {}, el("input", { type: "radio", name: "at", value: `${number}` }), ` ${name}`));
    this.part("states").replaceChildren(el("legend", {}, "Show the cluster"), ...inputs);
  }

  _listen() {
    this.place.addEventListener("input", (event) => {
      const key = event.target.name;
      if (key in DEFAULTS) this.set({ [key]: event.target.value, ...(key === "list" ? { sort: "" } : {}) });
    });
    this.part("form").addEventListener("submit", (event) => {
      event.preventDefault();
      const found = this._found();
      if (found) this.set({ chosen: found }, true);
    });
    this.part("reset").addEventListener("click", () => this.set({ ...DEFAULTS }, true));
    this.part("file").addEventListener("change", (event) => {
      for (const file of [...event.target.files]) this.take(file);
      event.target.value = ""; // the same file may be taken again
    });
    addEventListener("dragover", (event) => { if ([...event.dataTransfer.types].includes("Files")) event.preventDefault(); });
    addEventListener("drop", (event) => {
      if (!event.dataTransfer.files.length) return;
      event.preventDefault();
      for (const file of event.dataTransfer.files) this.take(file);
    });
    for (const moment of ["popstate", "hashchange"]) addEventListener(moment, () => { this.state = readState(); this.show(); });
  }

  async take(file) {
    try {
      const [view, unknown] = await dropped(file, this.cluster);
      this.cluster.add(view);
      this._fillStates();
      this.set({ at: `${this.cluster.states.length - 1}` });
      this.say(`${view.name} is shown beside the others; nothing of it is checked here.${unknown ? ` ${count(unknown, "entry is", "entries are")} about pods or nodes that this cluster does not have.` : ""}`);
    } catch (error) {
      this.say(`${clean(file.name)}: ${error.message}.`);
    }
  }

  say(text) { this.part("said").textContent = text; }

  get at() {
    const last = this.cluster.states.length - 1, stated = this.state.at === "" ? last : +this.state.at;
    return Number.isInteger(stated) && stated >= 0 && stated <= last ? stated : last;
  }

  // The first thing whose name is the text, or else holds it: jobs before nodes before pods.
  _found() {
    const text = this.state.q.trim().toLowerCase(), { cluster } = this;
    if (!text) return "";
    const kinds = [["job", cluster.jobs, "name"], ["node", cluster.nodes, "name"], ["task", cluster.tasks, "key"]];
    for (const same of [true, false]) {
      for (const [kind, all, field] of kinds) {
        const one = all.find((each) => (same ? each[field].toLowerCase() === text || each[field].toLowerCase().endsWith(`/${text}`) : each[field].toLowerCase().includes(text)));
        if (one) return `${kind}:${one[field]}`;
      }
    }
    return "";
  }

  // What the filters let through; a node passes if it is named or holds a task that passes.
  _passes() {
    const { state, cluster } = this, text = state.q.trim().toLowerCase();
    const wanted = (task) => {
      if (state.show === "differs" && !cluster.taskDiffers(task)) return false;
      if (state.show === "evicted" && !cluster.views.some((view) => view.evictions[task.id])) return false;
      if (state.show === "placed" && !cluster.views.some((view) => view.places[task.id])) return false;
      if (state.queue && cluster.queueOf(task) !== state.queue) return false;
      return !state.priority || `${task.priority}` === state.priority;
    };
    const named = (task) => !text || task.key.toLowerCase().includes(text) || (task.job >= 0 && cluster.jobs[task.job].name.toLowerCase().includes(text));
    const isFiltered = state.show !== "all" || state.queue || state.priority;
    const nodes = new Set();
    if (isFiltered || text) {
      cluster.here.forEach((here) => here.forEach((occupants, node) => { if (occupants.some(([task]) => wanted(task) && named(task))) nodes.add(node); }));
      if (!isFiltered) for (const node of cluster.nodes) if (node.name.toLowerCase().includes(text)) nodes.add(node.id);
    } else for (const node of cluster.nodes) nodes.add(node.id);
    const anyTask = (task) => wanted(task) && (named(task) || (!isFiltered && cluster.states.some((_, s) => { const [, node] = cluster.fate(s, task); return node >= 0 && cluster.nodes[node].name.toLowerCase().includes(text); })));
    return {
      nodes,
      node: (node) => nodes.has(node.id),
      task: (task) => (isFiltered || text || cluster.touched(task) || task.fate === "P") && anyTask(task),
      job: (job) => job.tasks.some((task) => wanted(task) && named(task) && (isFiltered || text || cluster.touched(task) || task.fate === "P")) || (!isFiltered && text !== "" && job.name.toLowerCase().includes(text)),
    };
  }

  // Nodes to mark for what is chosen: where its pods are, and where pods are evicted for it.
  _lit(kind, one) {
    const lit = new Map(), { cluster, at } = this;
    const job = kind === "job" ? one : kind === "task" && one.job >= 0 ? cluster.jobs[one.job] : null;
    const tasks = job ? job.tasks : kind === "task" ? [one] : [];
    for (const task of tasks) {
      const [, node] = cluster.fate(at, task);
      if (node >= 0) lit.set(node, "gang");
    }
    if (job && at) for (const victim of cluster.victimsFor(at, job)) lit.set(victim.node, lit.has(victim.node) ? "gang prey" : "prey");
    if (kind === "task") { const [, node] = cluster.fate(at, one); if (node >= 0) lit.set(node, `${lit.get(node)} itself`); }
    return lit;
  }

  show() {
    const { state, cluster } = this, passes = this._passes();
    for (const key of ["q", "show", "queue", "priority", "colour", "group"]) if (this.part(key).value !== state[key]) this.part(key).value = state[key];
    for (const radio of this.place.querySelectorAll('input[name="at"]')) radio.checked = +radio.value === this.at;
    for (const radio of this.place.querySelectorAll('input[name="list"]')) radio.checked = radio.value === state.list;
    this.map.layOut(state.group);
    const [kind, one] = this.detail.show(state.chosen);
    const lit = kind ? this._lit(kind, one) : new Map();
    const legend = this.map.paint(this.at, state.colour, passes.nodes, kind === "node" ? one.name : null, lit);
    this.part("legend").replaceChildren(...this._legend(legend));
    this.part("counted").textContent = `${passes.nodes.size === cluster.nodes.length ? "" : `${passes.nodes.size.toLocaleString("en")} of `}${count(cluster.nodes.length, "node")}, ${cluster.states[this.at]}${this.at ? `: ${cluster.views[this.at - 1].status}` : ""}`;
    this.part("ladder").replaceChildren(...ladder(cluster));
    this.lists.show(state.list, state.sort, passes);
  }

  _legend(coloured) {
    const { state } = this;
    const item = (classes, text, mark) => el("li", {}, el("i", { class: `cell ${classes}`, style: { "--fill": "60%" } }, mark), text);
    const marks = [item("comes", "pods come", "+"), item("goes", "pods are evicted", "−"), item("both", "both", "±")];
    if (state.colour === "change") return [...marks, item("gang", "pods of what is chosen"), item("prey", "its victims")];
    if (state.colour === "fill") return [item("", "as full as its fullest resource")];
    return coloured.map(([key, n]) => item(`hue${n}`, key, "abcdefgh"[n]));
  }
}

const explorer = document.getElementById("explorer");
if (explorer) new Explorer(explorer, new Cluster(JSON.parse(document.getElementById("explorer-data").textContent)));

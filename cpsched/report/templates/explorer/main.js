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
    this.light = new Light(place, cluster, this.map, this.detail, part("why"));
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
    this.part("vs").replaceChildren(el("option", { value: "" }, "nothing"), ...this.cluster.states.map((name, number) => el("option", { value: `${number}` }, name)));
  }

  _listen() {
    this.place.addEventListener("input", (event) => {
      const key = event.target.name;
      if (key === "vs") this._compareWith(event.target.value);
      else if (key in DEFAULTS) this.set({ [key]: event.target.value, ...(key === "list" ? { sort: "" } : {}) });
    });
    for (const kind of ["mouseover", "focusin"]) this.place.addEventListener(kind, (event) => this._pointAt(event.target));
    for (const kind of ["mouseleave", "focusout"]) this.place.addEventListener(kind, () => this._pointAt(null));
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
      const last = this.cluster.states.length - 1;
      this.state.at = `${last}`;
      this._compareWith(last > 1 ? `${last - 1}` : "");
      this.say(`${view.name} is shown beside the others; nothing of it is checked here.${unknown ? ` ${count(unknown, "entry is", "entries are")} about pods or nodes that this cluster does not have.` : ""}`);
    } catch (error) {
      this.say(`${clean(file.name)}: ${error.message}.`);
    }
  }

  say(text) { this.part("message").textContent = text; }

  get at() {
    const last = this.cluster.states.length - 1, stated = this.state.at === "" ? last : +this.state.at;
    return Number.isInteger(stated) && stated >= 0 && stated <= last ? stated : last;
  }

  // The state that the shown one is held against, null for none.
  get versus() {
    const stated = this.state.vs === "" ? -1 : +this.state.vs;
    return Number.isInteger(stated) && stated >= 0 && stated < this.cluster.states.length && stated !== this.at ? stated : null;
  }

  // The difference view: what differs between the two, pod by pod; without a second state everything again.
  _compareWith(vs) {
    const other = vs !== "" && +vs === this.at ? { at: `${this.cluster.states.findLastIndex((_, n) => n !== +vs)}` } : {};
    this.set({ vs, sort: "", ...other, ...(vs === "" ? { show: "all" } : { show: "differs", list: "pods" }) }, true);
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

  // What the filters let through: tasks, jobs, and the nodes that hold such tasks; a text names any of the three.
  _passes() {
    const { state, cluster } = this, text = state.q.trim().toLowerCase(), sides = cluster.sides(this.at, this.versus);
    const wanted = (task) => {
      if (state.show === "differs" && !cluster.taskDiffers(task, sides)) return false;
      if (state.show === "evicted" && !cluster.views.some((view) => view.evictions[task.id])) return false;
      if (state.show === "placed" && !cluster.views.some((view) => view.places[task.id])) return false;
      if (state.queue && cluster.queueOf(task) !== state.queue) return false;
      return !state.priority || `${task.priority}` === state.priority;
    };
    const named = (task) => !text || task.names.includes(text), isNamed = (node) => node >= 0 && cluster.nodes[node].names.includes(text);
    const isFiltered = state.show !== "all" || state.queue || state.priority, isNarrowed = isFiltered || text;
    const nodes = new Set();
    for (const node of cluster.nodes) if (!isNarrowed || (!isFiltered && isNamed(node.id))) nodes.add(node.id);
    for (const side of isNarrowed ? (state.show === "differs" ? sides : cluster.here.keys()) : []) {
      cluster.here[side].forEach((occupants, node) => {
        if (!nodes.has(node) && occupants.some(([task]) => wanted(task) && (isNamed(node) || named(task)))) nodes.add(node);
      });
    }
    const passes = (task) => wanted(task) && (isNarrowed || cluster.touched(task) || task.fate === "P");
    return {
      nodes,
      node: (node) => nodes.has(node.id),
      task: (task) => passes(task) && (named(task) || cluster.fates.some((fates) => isNamed(fates[task.id][1]))),
      job: (job) => job.tasks.some((task) => passes(task) && named(task)) || (!isFiltered && text !== "" && job.name.toLowerCase().includes(text)),
    };
  }

  show() {
    const { state, cluster } = this, passes = this._passes();
    for (const key of ["q", "show", "queue", "priority", "colour", "group"]) if (this.part(key).value !== state[key]) this.part(key).value = state[key];
    this.part("vs").value = this.versus === null ? "" : `${this.versus}`;
    for (const radio of this.place.querySelectorAll('input[name="at"]')) radio.checked = +radio.value === this.at;
    for (const radio of this.place.querySelectorAll('input[name="list"]')) radio.checked = radio.value === state.list;
    this.map.layOut(state.group);
    const { at, versus } = this, [kind, one] = this.detail.show(state.chosen);
    this.chosen = [kind, one];
    this.pointed = "";
    const legend = this.map.paint(at, versus, state.colour, passes.nodes, kind === "node" ? one.name : null);
    this.part("legend").replaceChildren(...this._legend(legend));
    this.part("counted").textContent = this._counted(passes.nodes.size);
    this.part("ladder").replaceChildren(...ladder(cluster));
    this.lists.show(state.list, state.sort, passes, versus === null ? cluster.states.map((_, n) => n) : [versus, at]);
    this.light.show(kind, one, at, false);
  }

  // How much is shown, of which state; of two states, how far they differ.
  _counted(passing) {
    const { cluster, at, versus } = this, total = count(cluster.nodes.length, "node");
    const nodes = passing === cluster.nodes.length ? total : `${passing.toLocaleString("en")} of ${total}`;
    if (versus === null) return `${nodes}, ${cluster.states[at]}${at ? `: ${cluster.views[at - 1].status}` : ""}`;
    const differ = cluster.tasks.filter((task) => cluster.taskDiffers(task, [versus, at])).length;
    const first = cluster.firstDifference(versus, at), names = `${cluster.states[versus]} (left) and ${cluster.states[at]} (right)`;
    if (!differ) return `${nodes}: ${names} do the same with every pod.`;
    const levels = first ? `; first difference at ${first[0]}: ${first[1]} against ${first[2]}` : "";
    return `${nodes}: ${names} differ in ${count(differ, "pod")}${levels}.`;
  }

  // What the pointer or the keyboard is on, or what is chosen once it has gone.
  _pointAt(target) {
    const shown = target && target.closest ? target.closest("[data-task], [data-job]") : null;
    const { task, job } = shown ? shown.dataset : {}, key = shown ? `${task},${job}` : "";
    if (key === this.pointed) return;
    this.pointed = key;
    if (task !== undefined) this.light.show("task", this.cluster.tasks[+task], this.at, true);
    else if (job !== undefined) this.light.show("job", this.cluster.jobs[+job], this.at, true);
    else this.light.show(...this.chosen, this.at, false);
  }

  _legend(coloured) {
    const { state, versus } = this;
    const item = (classes, text, mark, fill) => el("li", {}, el("i", { class: `cell ${classes}`, style: { "--fill": fill || "60%", "--other": "30%" } }, mark), text);
    const lit = [item("gang", "its gang"), item("prey", "its victims"), item("cause", "what it is evicted for")];
    const roles = this.chosen[0] === "job" || this.chosen[0] === "task" ? lit : [];
    if (versus !== null) return [item("split differs", `${this.cluster.states[versus]} left, ${this.cluster.states[this.at]} right; they differ`, "≠"), item("split", "the same"), ...roles];
    if (state.colour === "change") return [item("comes", "pods are placed", "+"), item("goes", "pods are evicted", "−"), item("both", "both", "±"), ...roles];
    if (state.colour === "fill") return [item("", "as full as its fullest resource"), ...roles];
    return [...coloured.map(([key, n]) => item(`hue${n}`, key, "abcdefgh"[n])), ...roles];
  }
}

const explorer = document.getElementById("explorer");
if (explorer) new Explorer(explorer, new Cluster(JSON.parse(document.getElementById("explorer-data").textContent)));

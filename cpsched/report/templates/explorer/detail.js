// What is chosen, told in full: a node in every state, a task and its fate, or a job with its tasks and victims.
const MOST_BLOCKS = 24;
const MOST_NAMES = 12;

const OUTCOMES = {
  S: ["starts now", "start now"], W: ["waits for capacity", "wait for capacity"], H: ["is allocated", "are allocated"],
  V: ["is evicted", "are evicted"], P: ["stays pending", "stay pending"],
};

class Detail {
  constructor(place, cluster, choose) {
    this.place = place;
    this.cluster = cluster;
    this.choose = choose;
  }

  show(chosen) {
    const [kind, ...rest] = chosen.split(":");
    const name = rest.join(":"), { cluster } = this;
    const found = { node: cluster.nodes, task: cluster.tasks, job: cluster.jobs }[kind];
    const one = found && found.find((each) => (each.name || each.key) === name);
    const told = !one ? this._hint(name) : kind === "node" ? this._node(one) : kind === "task" ? this._task(one) : this._job(one);
    const close = one && el("button", { type: "button", class: "close", onclick: () => this.choose("") }, "Close");
    this.place.replaceChildren(...[close, ...told].flat().filter(Boolean));
    return one ? [kind, one] : [null, null];
  }

  // Before anything is chosen: where to begin.
  _hint(name) {
    const { cluster } = this;
    const wrong = name && el("p", { class: "worse" }, `Nothing here is called ${name}.`);
    const waiting = [...cluster.starving].map((id) => cluster.jobs[id]).sort((a, b) => b.priority - a.priority);
    const differ = cluster.nodes.filter((node) => cluster.differs(node.id, cluster.sides(0, null)));
    const facts = [];
    if (waiting.length) facts.push(["jobs that are not running", this._names("job", waiting.map((job) => job.name))]);
    if (differ.length) facts.push(["nodes where the decisions differ", this._names("node", differ.map((node) => node.name))]);
    for (const view of cluster.views) if (view.findings.length) facts.push([`${view.name} breaks`, view.findings.slice(0, 5).join(" | ")]);
    return [wrong, el("p", { class: "quiet" }, "Choose a node on the map, or a job or pod here, in the list or by search: its details stand here."), list(facts)];
  }

  _link(kind, name) {
    const what = kind === "node" ? {} : { [`data-${kind}`]: this.cluster.number(kind, name) };
    return el("button", { type: "button", class: "link", ...what, onclick: () => this.choose(`${kind}:${name}`) }, breakable(name));
  }

  _names(kind, names) {
    const shown = names.slice(0, MOST_NAMES).flatMap((name, n) => [n ? ", " : "", this._link(kind, name)]);
    return names.length > MOST_NAMES ? [...shown, ` and ${count(names.length - MOST_NAMES, "more", "more")}`] : shown;
  }

  _node(node) {
    const { cluster } = this;
    const ways = Object.entries(cluster.groupings).map(([way, { names, of }]) => `${way} ${names[of[node.id]]}`);
    const panels = cluster.states.map((state, number) => el("div", { class: "panel", role: "group", "aria-label": `${node.name}, ${state}` },
      el("p", { class: "state" }, el("strong", {}, state), el("span", { class: "quiet" }, ` ${count(cluster.present(number, node.id).length, "pod")}`)),
      cluster.resources.map(([name, short], r) => cluster.size(node.id, r) > 0 && this._bar(node, number, r, name, short))));
    return [el("h3", {}, `Node ${node.name}`), ways.length > 0 && el("p", { class: "quiet" }, ways.join(" · ")), el("div", { class: "onpanels" }, panels),
      this._podsOn(node)];
  }

  _bar(node, state, r, resource, short) {
    const { cluster } = this, size = cluster.size(node.id, r), used = cluster.used(state, node.id, r);
    const full = Math.max(size, ...cluster.states.map((_, number) => cluster.used(number, node.id, r)));
    const stay = cluster.present(state, node.id).filter(([, fate]) => !COMES.has(fate)).reduce((sum, [task]) => sum + cluster.asks[task.ask][1][r], 0);
    const leaving = this._blocks(cluster.leaving(state, node.id), r, full, stay, "leaving");
    return el("div", { class: leaving ? "row freed" : "row" }, el("span", { class: "resource" }, short),
      el("div", { class: "bar", role: "group", "aria-label": `${short}: ${amount(resource, used)} of ${amount(resource, size)} taken` },
        leaving, this._blocks(cluster.present(state, node.id), r, full, 0, "present") || el("ol", { class: "present" })),
      el("span", { class: used > size ? "taken worse" : "taken" }, amount(resource, used), el("span", { class: "of" }, `/${amount(resource, size)}`)));
  }

  // Side by side in units of the bar; many tasks of one job and fate are one block.
  _blocks(occupants, r, full, start, words) {
    let pieces = occupants.map(([task, fate]) => ({ task, fate, n: 1, want: this.cluster.asks[task.ask][1][r] }));
    if (pieces.length > MOST_BLOCKS) {
      const merged = new Map();
      for (const piece of pieces) {
        const key = `${piece.fate} ${piece.task.job}`, seen = merged.get(key);
        if (seen) { seen.n++; seen.want += piece.want; } else merged.set(key, piece);
      }
      pieces = [...merged.values()];
    }
    pieces = pieces.filter((piece) => piece.want > 0).sort((a, b) => COMES.has(a.fate) - COMES.has(b.fate));
    if (!pieces.length) return null;
    const sum = pieces.reduce((total, piece) => total + piece.want, 0);
    let x = Math.max(0, Math.min(start, full - sum));
    const items = pieces.map(({ task, fate, n, want }) => {
      const job = this.cluster.jobs[task.job], name = n > 1 && job ? job.name : task.key;
      const block = el("button", {
        type: "button", tabindex: "-1", class: `block ${CLASSES[fate]}`, style: { "--x": (100 * x) / full, "--w": (100 * want) / full },
        title: `${n > 1 ? `${n} × ` : ""}${name}: ${FATES[fate]}, asks ${this.cluster.asks[task.ask][0]}`,
        "aria-label": `${n > 1 ? `${n} × ` : ""}${name}: ${FATES[fate]}`,
        ...(n > 1 && job ? { "data-job": job.id } : { "data-task": task.id }),
        onclick: () => this.choose(n > 1 && job ? `job:${job.name}` : `task:${task.key}`),
      }, fate && el("b", {}, fate), want / full > 0.09 && el("span", {}, n > 1 ? `${n} × ${name}` : name.split("/").pop()));
      x += want;
      return el("li", {}, block);
    });
    return el("ol", { class: words }, items);
  }

  _podsOn(node) {
    const { cluster } = this, rows = new Map();
    cluster.states.forEach((_, state) => {
      for (const [task, fate] of cluster.on(state, node.id)) {
        if (!rows.has(task)) rows.set(task, cluster.states.map(() => ""));
        rows.get(task)[state] = FATES[fate];
      }
    });
    const body = [...rows].slice(0, 200).map(([task, fates]) => el("tr", {}, el("th", { scope: "row" }, this._link("task", task.key)),
      el("td", { class: "number" }, `${task.priority}`), el("td", {}, cluster.asks[task.ask][0]), fates.map((fate) => el("td", { class: fate === FATES.V ? "worse" : "" }, fate))));
    if (!body.length) return el("p", {}, "No pod stands or is placed here.");
    return grid(`Pods on ${node.name}`, ["pod", "#priority", "requests", ...cluster.states], body, rows.size - body.length);
  }

  _task(task) {
    const { cluster } = this, job = cluster.jobs[task.job];
    const facts = [["requests", cluster.asks[task.ask][0]], ["priority", `${task.priority}`], ["before", this._where(task.fate, task.node)]];
    if (job) facts.unshift(["job", this._link("job", job.name)]);
    return [el("h3", {}, `Pod ${task.key}`), list(facts), el("h4", {}, "What each decision does with it"),
      list(cluster.views.map((view, n) => [view.name, el("span", {}, this.fateIn(n + 1, task), this._reason(n + 1, task))]))];
  }

  // Why the engine treats the pod otherwise than the best decision does, as the page's table of differences says it.
  _reason(state, task) {
    const view = this.cluster.views[state - 1], why = view.reasons[task.id];
    return why === undefined ? null : el("small", { class: "reason" }, ` Why: ${view.texts[why]}.`);
  }

  // What the explanation says of a job that stays pending: the summary, changes that would place it, and every node.
  _explained(job, ask) {
    const found = this.cluster.explained[job.id];
    if (!found) return el("p", { class: "quiet" }, "What would have to change for it: ", el("code", {}, ask));
    const [summary, nodes, changes] = found;
    const rows = (pairs) => pairs.map(([name, text]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, text)));
    return [el("h4", {}, "Why not, and what would have to change"), el("p", {}, summary),
      changes.length > 0 && grid("Smallest changes that would allow it", ["change", "then placed"], rows(changes), 0),
      nodes.length > 0 && grid("Why not on these nodes", ["nodes", "reason"], rows(nodes), 0), el("p", { class: "quiet" }, "More: ", el("code", {}, ask))];
  }

  _victimReason(state, victims) {
    const first = victims.find((task) => this.cluster.views[state - 1].reasons[task.id] !== undefined);
    return first ? el("small", { class: "reason" }, ` ${first.key}: ${this.cluster.views[state - 1].texts[this.cluster.views[state - 1].reasons[first.id]]}`) : null;
  }

  _where(fate, node) {
    if (node < 0) return FATES[fate];
    return el("span", {}, `${FATES[fate] === "stays" ? "runs" : FATES[fate]} on `, this._link("node", this.cluster.nodes[node].name));
  }

  fateIn(state, task) {
    const { cluster } = this, view = cluster.views[state - 1], [fate, node] = cluster.fate(state, task);
    if (fate === "V") {
      const [action, owner] = view.evictions[task.id];
      return el("span", { class: "worse" }, `is evicted${action && ` by ${action}`}`, owner >= 0 && [" for ", this._link("job", cluster.jobs[owner].name)]);
    }
    const why = view.stays[task.id];
    if (fate === "P") return el("span", {}, why === undefined ? "stays pending; the engine states no reason" : `stays pending: ${view.texts[why]}`);
    if (COMES.has(fate) && node >= 0) {
      const words = { S: "starts now on ", W: "waits for capacity on ", H: "is allocated, its gang not ready, on " };
      return el("span", { class: "better" }, words[fate], this._link("node", cluster.nodes[node].name));
    }
    return this._where(fate, node);
  }

  _job(job) {
    const { cluster } = this;
    const waiting = job.tasks.filter((task) => task.fate === "P").length;
    const facts = [["queue", job.queue >= 0 ? cluster.queues[job.queue] : "none"], ["priority", `${job.priority}`],
      ["running/minimum", `${job.ready}/${job.min}`], ["pods", `${count(job.tasks.length, "pod")}, ${waiting} pending`]];
    const told = cluster.views.map((view, n) => [view.name, this.outcome(n + 1, job)]);
    const ask = `cpsched explain ${cluster.input} ${job.name}`;
    const body = job.tasks.slice(0, 200).map((task) => el("tr", {}, el("th", { scope: "row" }, this._link("task", task.key)),
      cluster.states.map((_, state) => el("td", {}, state ? this.fateIn(state, task) : this._where(task.fate, task.node)))));
    return [el("h3", {}, `Job ${job.name}`), list(facts), el("h4", {}, "What each decision does with it"), list(told),
      waiting > 0 && this._explained(job, ask),
      job.tasks.length > 0 && grid(`Pods of ${job.name}`, ["pod", ...cluster.states], body, job.tasks.length - body.length)];
  }

  outcome(state, job) {
    const { cluster } = this, view = cluster.views[state - 1];
    const by = { S: 0, W: 0, H: 0, V: 0, P: 0 }, nodes = new Set(), reasons = new Set();
    for (const task of job.tasks) {
      const [fate, node] = cluster.fate(state, task);
      if (fate in by) by[fate]++;
      if (COMES.has(fate) && node >= 0) nodes.add(cluster.nodes[node].name);
      if (fate === "P" && view.stays[task.id] !== undefined) reasons.add(view.texts[view.stays[task.id]]);
    }
    const told = (fates) => fates.filter((fate) => by[fate]).map((fate) => `${by[fate]} ${OUTCOMES[fate][by[fate] === 1 ? 0 : 1]}`).join(", ");
    const placed = told(["S", "W", "H"]), others = told(["V", "P"]);
    const victims = cluster.victimsFor(state, job);
    const most = victims.reduce((top, task) => Math.max(top, task.priority), -Infinity);
    return el("span", {}, placed, nodes.size > 0 && [" on ", this._names("node", [...nodes])], placed && others && ", ", others, !placed && !others && "nothing changes",
      victims.length > 0 && [`; for it ${victims.length === 1 ? "1 pod is" : `${victims.length} pods are`} evicted (highest priority ${most}): `, this._names("task", victims.map((task) => task.key))],
      reasons.size > 0 && `; why: ${[...reasons].slice(0, 3).join(" | ")}`, ".", this._victimReason(state, victims));
  }
}

// A name breaks after its slashes rather than inside a word.
function breakable(name) { return name.split("/").flatMap((part, n) => (n ? ["/", el("wbr"), part] : [part])); }

function list(pairs) {
  return el("dl", { class: "told" }, pairs.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

function grid(title, columns, rows, leftOut) {
  const head = columns.map((name) => el("th", { scope: "col", class: name.startsWith("#") ? "number" : "" }, name.replace(/^#/, "")));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title },
    el("table", {}, el("caption", {}, leftOut > 0 ? `${title}; ${count(leftOut, "more row")} left out` : title), el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows)));
}

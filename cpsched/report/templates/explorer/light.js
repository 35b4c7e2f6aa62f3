// What is chosen or pointed at lights up everywhere: itself, its gang, its victims, and the job that it is evicted for.
const ROLES = ["itself", "gang", "cause", "prey"]; // the first counts where several hold

class Light {
  constructor(place, cluster, map, detail, line) {
    Object.assign(this, { place, cluster, map, detail, line });
    this.pictured = new Map();
    for (const block of document.querySelectorAll(".cluster .block[data-key]")) {
      if (!this.pictured.has(block.dataset.key)) this.pictured.set(block.dataset.key, []);
      this.pictured.get(block.dataset.key).push(block);
    }
    this.marked = [];
  }

  // The part that each task plays for it, after the shown decision, or the last one where none is shown.
  roles(kind, one, at) {
    const { cluster } = this, roles = new Map();
    if (kind !== "job" && kind !== "task") return roles;
    const state = at || cluster.states.length - 1, job = kind === "job" ? one : cluster.jobs[one.job];
    const eviction = kind === "task" && state ? cluster.views[state - 1].evictions[one.id] : null;
    if (job) for (const victim of cluster.victimsFor(state, job)) roles.set(victim.id, "prey");
    if (eviction && eviction[1] >= 0) for (const task of cluster.jobs[eviction[1]].tasks) roles.set(task.id, "cause");
    if (job) for (const task of job.tasks) roles.set(task.id, "gang");
    if (kind === "task") roles.set(one.id, "itself");
    return roles;
  }

  show(kind, one, at, isPointedAt) {
    const { cluster } = this, roles = this.roles(kind, one, at), nodes = new Map(), jobs = new Map();
    for (const [id, role] of roles) {
      const task = cluster.tasks[id], [, node] = cluster.fate(at, task), known = jobs.get(task.job);
      if (node >= 0) nodes.set(node, (nodes.get(node) || new Set()).add(role));
      if (known === undefined || ROLES.indexOf(role) < ROLES.indexOf(known)) jobs.set(task.job, role);
    }
    this.map.light(nodes);
    for (const shown of this.marked) shown.classList.remove(...ROLES);
    this.marked = [];
    const mark = (shown, role) => { shown.classList.add(role); this.marked.push(shown); };
    for (const shown of roles.size ? this.place.querySelectorAll("[data-task], [data-job]") : []) {
      const role = shown.dataset.task === undefined ? jobs.get(+shown.dataset.job) : roles.get(+shown.dataset.task);
      if (role) mark(shown, role);
    }
    for (const [id, role] of roles) for (const block of this.pictured.get(cluster.tasks[id].key) || []) mark(block, role);
    this.line.textContent = isPointedAt ? this._why(kind, one) : "";
  }

  // What every decision does with it and why, in one line.
  _why(kind, one) {
    const text = (state) => el("span", {}, kind === "job" ? this.detail.outcome(state, one) : this.detail.fateIn(state, one)).textContent;
    return `${one.key || one.name}: ${this.cluster.views.map((view, n) => `${view.name}: ${text(n + 1).replace(/\.$/, "")}`).join("; ")}.`;
  }
}

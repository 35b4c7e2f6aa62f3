// The cluster and its decisions: what stands where in each state. State 0 is before; state n is after decision n.
const FATES = {
  "": "stays", S: "starts now", W: "waits for room here", H: "holds room, its gang is not ready",
  V: "is evicted", E: "is ending anyway", P: "pending", "-": "finished",
};
const CLASSES = { "": "stays", S: "starts", W: "waits", H: "holds", V: "victim", E: "ends" };
const COMES = new Set(["S", "W", "H"]);
const LEAVES = new Set(["V", "E"]);

class Cluster {
  constructor(data) {
    this.input = data.input;
    this.resources = data.resources;
    this.shapes = data.shapes;
    this.groupings = data.groupings;
    this.queues = data.queues;
    this.asks = data.asks;
    this.nodes = data.nodes.map(([name, shape], id) => ({ id, name, shape }));
    this.jobs = data.jobs.map(([name, queue, priority, min, ready], id) => ({ id, name, queue, priority, min, ready, tasks: [] }));
    this.tasks = data.tasks.map(([key, job, ask, priority, fate, node], id) => ({ id, key, job, ask, priority, fate, node }));
    for (const task of this.tasks) if (task.job >= 0) this.jobs[task.job].tasks.push(task);
    this.starving = new Set(data.starving);
    this.views = [];
    this.here = [this._nodesIn(null)];
    for (const view of data.views) this.add(view);
  }

  get states() { return ["before", ...this.views.map((view) => view.name)]; }

  add(view) {
    this.views.push(view);
    this.here.push(this._nodesIn(view));
  }

  // What becomes of the task in this state, and on which node.
  fate(state, task) {
    const view = state ? this.views[state - 1] : null;
    if (view && view.evictions[task.id]) return ["V", task.node];
    if (view && view.places[task.id]) return view.places[task.id];
    return [task.fate, task.node];
  }

  _nodesIn(view) {
    const state = view ? this.views.length : 0;
    const nodes = this.nodes.map(() => []);
    for (const task of this.tasks) {
      const [fate, node] = this.fate(state, task);
      if (node >= 0 && fate !== "P" && fate !== "-") nodes[node].push([task, fate]);
    }
    return nodes;
  }

  on(state, node) { return this.here[state][node]; }

  // Before the decision what is ending still has its room; after it, only those that stay or come.
  present(state, node) { return this.on(state, node).filter(([, fate]) => !(state && LEAVES.has(fate))); }

  leaving(state, node) { return state ? this.on(state, node).filter(([, fate]) => LEAVES.has(fate)) : []; }

  used(state, node, resource) {
    let sum = 0;
    for (const [task] of this.present(state, node)) sum += this.asks[task.ask][1][resource];
    return sum;
  }

  size(node, resource) { return this.shapes[this.nodes[node].shape][resource]; }

  // The fullest resource, as a part of the node; pods are only counted where nothing else is.
  fill(state, node) {
    let most = 0;
    const last = this.resources.length > 1 ? this.resources.length - 1 : 1;
    for (let r = 0; r < last; r++) {
      const size = this.size(node, r);
      if (size > 0) most = Math.max(most, this.used(state, node, r) / size);
    }
    return most;
  }

  changes(state, node) {
    let comes = 0, goes = 0;
    if (state) for (const [, fate] of this.on(state, node)) {
      if (COMES.has(fate)) comes++;
      else if (fate === "V") goes++;
    }
    return { comes, goes };
  }

  // Nodes on which the decisions differ in which tasks come or go.
  differs(node) {
    const seen = new Set();
    for (let state = 1; state < this.here.length; state++) {
      seen.add(this.on(state, node).filter(([, fate]) => fate && fate !== "E").map(([task, fate]) => task.id + fate).sort().join());
    }
    return seen.size > 1;
  }

  taskDiffers(task) {
    const seen = new Set();
    for (let state = 1; state < this.here.length; state++) seen.add(this.fate(state, task).join());
    return seen.size > 1;
  }

  queueOf(task) {
    const job = this.jobs[task.job];
    return job && job.queue >= 0 ? this.queues[job.queue] : "";
  }

  // Tasks that a decision evicts for the job.
  victimsFor(state, job) {
    const view = this.views[state - 1];
    if (!view) return [];
    return Object.entries(view.evictions).filter(([, [, owner]]) => owner === job.id).map(([id]) => this.tasks[id]);
  }

  touched(task) { return this.views.some((view) => view.places[task.id] || view.evictions[task.id]); }
}

// An amount in the units of a manifest, as the tables write it.
function amount(resource, value) {
  const binary = resource === "memory" || resource === "ephemeral-storage" || resource.startsWith("hugepages-");
  if (resource === "cpu" && value % 1000) return `${+value.toFixed(6)}m`;
  const whole = resource === "memory" || resource === "pods" ? value : value / 1000;
  if (binary && Number.isInteger(whole) && whole) {
    for (const [suffix, power] of [["Pi", 50], ["Ti", 40], ["Gi", 30], ["Mi", 20], ["Ki", 10]]) {
      if (whole % 2 ** power === 0) {
        const number = whole / 2 ** power;
        return number < 100000 ? `${number}${suffix}` : about(whole);
      }
    }
    return about(whole);
  }
  return `${+whole.toFixed(6)}`;
}

function about(bytes) {
  const [suffix, power] = [["Ti", 40], ["Gi", 30], ["Mi", 20], ["Ki", 10], ["", 0]].find(([, p]) => Math.abs(bytes) >= 2 ** p) || ["", 0];
  return `about ${(bytes / 2 ** power).toFixed(2)}${suffix}`;
}

function count(number, one, many) { return `${number.toLocaleString("en")} ${number === 1 ? one : many || `${one}s`}`; }

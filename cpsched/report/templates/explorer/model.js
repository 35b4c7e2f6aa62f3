// The cluster and its decisions: what stands where in each state. State 0 is before; state n is after decision n.
const FATES = {
  "": "stays", S: "starts now", W: "waits for reserved capacity", H: "is allocated, its gang is not ready",
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
    this.millionths = new Set(data.millionths);
    this.priorityOffset = data.priority_offset;
    this.nodes = data.nodes.map(([name, shape], id) => ({ id, name, shape }));
    this.jobs = data.jobs.map(([name, queue, priority, min, ready], id) => ({ id, name, queue, priority, min, ready, tasks: [] }));
    this.tasks = data.tasks.map(([key, job, ask, priority, fate, node], id) => ({ id, key, job, ask, priority, fate, node }));
    for (const task of this.tasks) if (task.job >= 0) this.jobs[task.job].tasks.push(task);
    this.starving = new Set(data.starving);
    this.numbers = { job: new Map(this.jobs.map((job) => [job.name, job.id])), task: new Map(this.tasks.map((task) => [task.key, task.id])) };
    for (const task of this.tasks) task.names = `${task.key}\n${task.job >= 0 ? this.jobs[task.job].name : ""}`.toLowerCase();
    for (const node of this.nodes) node.names = node.name.toLowerCase();
    this.explained = data.explained;
    this.views = [];
    this.fates = [];
    this.summaries = [];
    this.differing = new Map();
    this.here = [this._nodesIn(null)];
    for (const view of data.views) this.add(view);
  }

  get states() { return ["before", ...this.views.map((view) => view.name)]; }

  add(view) {
    this.views.push(view);
    this.here.push(this._nodesIn(view));
  }

  // What becomes of the task in this state, and on which node.
  fate(state, task) { return this.fates[state][task.id]; }

  _fateIn(view, task) {
    if (view && view.evictions[task.id]) return ["V", task.node];
    if (view && view.places[task.id]) return view.places[task.id];
    return [task.fate, task.node];
  }

  _nodesIn(view) {
    this.fates.push(this.tasks.map((task) => this._fateIn(view, task)));
    const nodes = this.nodes.map(() => []), fates = this.fates[this.fates.length - 1];
    for (const task of this.tasks) {
      const [fate, node] = fates[task.id];
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

  // Of a node in a state: how full it is, how many pods there are, come and are evicted; computed once per state.
  summary(state, node) {
    if (!this.summaries[state]) this.summaries[state] = this.nodes.map(({ id }) => this._summary(state, id));
    return this.summaries[state][node];
  }

  // The fullest resource counts, as a part of the node; pods are only counted where nothing else is.
  _summary(state, node) {
    const used = this.resources.map(() => 0), last = Math.max(1, this.resources.length - 1);
    let pods = 0, comes = 0, goes = 0, fill = 0;
    for (const [task, fate] of this.on(state, node)) {
      if (state && fate === "V") goes++;
      if (state && LEAVES.has(fate)) continue;
      pods++;
      if (COMES.has(fate)) comes++;
      const asked = this.asks[task.ask][1];
      for (let r = 0; r < last; r++) used[r] += asked[r];
    }
    for (let r = 0; r < last; r++) if (this.size(node, r) > 0) fill = Math.max(fill, used[r] / this.size(node, r));
    return { fill, pods, comes, goes };
  }

  fill(state, node) { return this.summary(state, node).fill; }

  changes(state, node) { return this.summary(state, node); }

  // The states that stand against each other: two that the user chose, else all decisions.
  sides(at, versus) { return versus === null ? this.views.map((_, n) => n + 1) : [versus, at]; }

  // Whether a task fares differently in one of the states than in another, and with it the nodes that it is on.
  taskDiffers(task, states) { return this._differing(states).tasks.has(task.id); }

  differs(node, states) { return this._differing(states).nodes.has(node); }

  _differing(states) {
    const key = states.join();
    if (!this.differing.has(key)) {
      const tasks = new Set(), nodes = new Set();
      for (const { id } of this.tasks) {
        const fates = states.map((state) => this.fates[state][id]);
        if (fates.every(([fate, node]) => fate === fates[0][0] && node === fates[0][1])) continue;
        tasks.add(id);
        for (const [fate, node] of fates) if (node >= 0 && fate !== "P") nodes.add(node);
      }
      this.differing.set(key, { tasks, nodes });
    }
    return this.differing.get(key);
  }

  // The most important level on which two decisions differ, with both values as text; null if there is none.
  firstDifference(one, other) {
    const [mine, theirs] = [one, other].map((state) => (state ? this.views[state - 1].levels : []));
    for (const level of mine) {
      const same = theirs.find((each) => each[0] === level[0]);
      if (same && same[3] !== level[3]) return [level[0], level[3], same[3]];
    }
    return null;
  }

  number(kind, name) { return this.numbers[kind].get(name); }

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

const DIGITS = new Intl.NumberFormat("en");

function count(number, one, many) { return `${number < 1000 ? number : DIGITS.format(number)} ${number === 1 ? one : many || `${one}s`}`; }

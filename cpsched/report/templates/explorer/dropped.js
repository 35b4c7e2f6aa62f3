// A decision dropped onto the page: a Solution as `cpsched solve -o` writes it. It is shown, and nothing of it is checked.
const MOST_BYTES = 64 * 1024 * 1024;

function clean(text) {
  return `${text}`.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (one) => `\\u${one.codePointAt(0).toString(16).padStart(4, "0")}`);
}

function viewOf(solution, name, cluster) {
  if (!solution || typeof solution !== "object" || (solution.kind || "Solution") !== "Solution") throw new Error("this is not a Solution, which cpsched solve -o writes");
  const ids = new Map(cluster.tasks.map((task) => [task.key, task.id])), nodes = new Map(cluster.nodes.map((node) => [node.name, node.id]));
  const jobs = new Map(cluster.jobs.map((job) => [job.name, job.id]));
  const view = { name: clean(name), status: "dropped onto the page, not checked", places: {}, evictions: {}, stays: {}, texts: [], findings: [], levels: [], decides: "" };
  let unknown = 0;
  for (const [letter, places] of [["S", solution.binds], ["W", solution.pipelined], ["H", solution.allocated]]) {
    for (const [key, node] of Object.entries(places || {})) {
      if (ids.has(clean(key)) && nodes.has(clean(node))) view.places[ids.get(clean(key))] = [letter, nodes.get(clean(node))];
      else unknown++;
    }
  }
  for (const one of Array.isArray(solution.evictions) ? solution.evictions : []) {
    const key = clean(one && one.task), owner = jobs.get(clean(one && one.for));
    if (ids.has(key)) view.evictions[ids.get(key)] = [clean((one && one.action) || ""), owner === undefined ? -1 : owner];
    else unknown++;
  }
  for (const [key, why] of Object.entries(solution.unplaced || {})) {
    if (ids.has(clean(key)) && Array.isArray(why)) view.stays[ids.get(clean(key))] = view.texts.push(clean(why.join("; "))) - 1;
  }
  return [view, unknown];
}

async function dropped(file, cluster) {
  if (file.size > MOST_BYTES) throw new Error("the file is larger than 64 MiB");
  let solution;
  try { solution = JSON.parse(await file.text()); } catch { throw new Error("this is not JSON"); }
  return viewOf(solution, file.name, cluster);
}

// A decision dropped onto the page: a Solution as `cpsched solve -o` writes it. It is shown, and nothing of it is checked.
const MOST_BYTES = 64 * 1024 * 1024;

function clean(text) {
  return `${text}`.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (one) => `\\u${one.codePointAt(0).toString(16).padStart(4, "0")}`);
}

function viewOf(solution, name, cluster) {
  if (!solution || typeof solution !== "object" || (solution.kind || "Solution") !== "Solution") throw new Error("this is not a Solution, which cpsched solve -o writes");
  const ids = new Map(cluster.tasks.map((task) => [task.key, task.id])), nodes = new Map(cluster.nodes.map((node) => [node.name, node.id]));
  const jobs = new Map(cluster.jobs.map((job) => [job.name, job.id]));
  const view = { name: clean(name), status: "dropped onto the page, not checked", places: {}, evictions: {}, stays: {}, reasons: {}, texts: [], findings: [], levels: statedLevels(solution.levels, cluster), decides: "" };
  const last = cluster.views.findLast((one) => one.levels.length);
  if (last) view.decides = (last.levels.find((level) => view.levels.some((mine) => mine[0] === level[0] && mine[3] !== level[3])) || [""])[0];
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

// Levels as the file states them, in the words of those that are here already.
function statedLevels(levels, cluster) {
  const known = new Map(cluster.views.flatMap((view) => view.levels.map((level) => [level[0], level])));
  const stated = (Array.isArray(levels) ? levels : []).filter((level) => level && typeof level === "object");
  const label = (level) => clean(Number.isInteger(level.priority) ? `${level.name}[${level.priority}]` : level.name);
  const values = new Map(stated.map((level) => [label(level), level.value]));
  return stated.map((level) => {
    const [, words, better] = known.get(label(level)) || ["", "", level.sense === "max" ? "more" : "less"];
    return [label(level), words, better, levelText(label(level), level.value, values, cluster), "stated by the file", level.value, null];
  });
}

// As the tables write it: millionths as percent, a sum of priorities as the number of victims and their sum.
function levelText(label, value, values, cluster) {
  if (value === null || value === undefined) return "none";
  if (!Number.isInteger(value)) return clean(value);
  if (cluster.millionths.has(label)) return `${value / 10000} %`;
  const victims = label.startsWith("victim_priority_sum") ? values.get(label.replace("victim_priority_sum", "victim_count")) : undefined;
  if (!Number.isInteger(victims)) return `${value}`;
  return victims ? `${count(victims, "victim")}, priority sum ${value - victims * cluster.priorityOffset}` : "no victims";
}

async function dropped(file, cluster) {
  if (file.size > MOST_BYTES) throw new Error("the file is larger than 64 MiB");
  let solution;
  try { solution = JSON.parse(await file.text()); } catch { throw new Error("this is not JSON"); }
  return viewOf(solution, file.name, cluster);
}

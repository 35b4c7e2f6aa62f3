// A study's decisions as points in two charts that are linked: what is chosen in one is marked in both and listed below.
const CHART = { width: 520, height: 300, left: 150, bottom: 34, pad: 12 };
const MARKS = [(x, y) => `M${x - 4} ${y}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0`, (x, y) => `M${x} ${y - 5}l5 9h-10z`, (x, y) => `M${x - 4} ${y - 4}h8v8h-8z`,
  (x, y) => `M${x - 4} ${y - 4}l8 8m0 -8l-8 8`, (x, y) => `M${x} ${y - 5}l5 5l-5 5l-5 -5z`];
const FIELDS = ["instance", "engine", "model", "seed", "nodes", "tasks", "outcome", "level", "value", "optimum", "seconds", "section"];
const MOST_INSTANCES = 100;

function svg(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

class Points {
  constructor(place, data) {
    this.place = place;
    this.data = data;
    this.points = data.points.map((row) => Object.fromEntries(FIELDS.map((field, n) => [field, row[n]])));
    this.frame = null;
    this.part = (name) => place.querySelector(`[data-part="${name}"]`);
    const fill = (name, values) => place.querySelector(`[name="${name}"]`).append(...values.map((value) => el("option", { value }, value || "none")));
    fill("engine", [...new Set(this.points.map((one) => one.engine))]);
    fill("outcome", data.outcomes.filter((_, n) => this.points.some((one) => one.outcome === n)));
    fill("level", data.levels.filter(Boolean));
    const tasks = this._log("tasks"), seconds = this._log("seconds");
    this.charts = [
      this._chart("Seconds against tasks", "tasks", "seconds", tasks, seconds.up, seconds.ticks),
      this._chart("First difference against tasks", "tasks", "", tasks, (one) => this._row(one.level), data.levels.map((name, n) => [this._row(n), name || "none"])),
    ];
    this.part("charts").append(...this.charts.map((chart) => chart.shown));
    this.part("legend").append(...data.outcomes.flatMap((name, n) => (this.points.some((one) => one.outcome === n)
      ? [el("li", {}, svg("svg", { width: 16, height: 16, "aria-hidden": "true" }, svg("path", { d: MARKS[n](8, 8), class: `point outcome${n}` })), ` ${name}`)] : [])));
    place.addEventListener("input", () => { this.frame = null; this.show(); });
    place.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
    this.part("all").addEventListener("click", () => { this.frame = null; place.querySelector("form").reset(); this.show(); });
    place.hidden = false;
    this.show();
  }

  // A logarithmic scale of a field: across the chart, or from its bottom to its top.
  _log(field) {
    const values = this.points.map((one) => Math.max(one[field] || 0, field === "seconds" ? 0.001 : 1));
    const low = Math.floor(Math.log10(Math.min(...values))), high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
    const part = (value) => (Math.log10(Math.max(value || 0, 10 ** low)) - low) / (high - low);
    const across = (share) => CHART.left + CHART.pad + share * (CHART.width - CHART.left - 2 * CHART.pad), up = (share) => CHART.height - CHART.bottom - CHART.pad - share * (CHART.height - CHART.bottom - 2 * CHART.pad);
    const steps = Array.from({ length: high - low + 1 }, (_, n) => 10 ** (low + n));
    return { across: (one) => across(part(one[field])), up: (one) => up(part(one[field])), ticks: steps.map((value) => [up(part(value)), `${+value.toPrecision(1)}`]), below: steps.map((value) => [across(part(value)), `${+value.toPrecision(1)}`]) };
  }

  _row(level) { return CHART.pad + (level + 0.5) * ((CHART.height - CHART.bottom - CHART.pad) / this.data.levels.length); }

  _chart(title, below, beside, x, y, ticks) {
    const { width, height, left, bottom } = CHART, text = (at, ...words) => svg("text", at, ...words);
    const box = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}; the list below has the same decisions` });
    box.append(svg("path", { class: "axis", d: `M${left} 0V${height - bottom}H${width}` }), text({ x: width, y: height - 2, "text-anchor": "end" }, below), text({ x: 0, y: 12 }, beside));
    for (const [at, name] of ticks) box.append(text({ x: left - 6, y: at + 4, "text-anchor": "end" }, name));
    for (const [at, name] of x.below) box.append(text({ x: at, y: height - bottom + 16, "text-anchor": at > width - 24 ? "end" : "middle" }, name));
    const at = this.points.map((one, n) => [x.across(one) + (n % 5) - 2, y(one) + (((n * 7) % 9) - 4)]);
    const marks = this.points.map((one, n) => svg("path", { class: `point outcome${one.outcome}`, d: MARKS[one.outcome](...at[n].map((number) => +number.toFixed(1))) }));
    const frame = svg("rect", { class: "frame", width: 0, height: 0 });
    box.append(...marks, frame);
    const chart = { at, marks, frame, shown: el("figure", { class: "chart" }, el("figcaption", {}, title), box) };
    let start = null;
    const place = (event) => { const area = box.getBoundingClientRect(); return [((event.clientX - area.left) * width) / area.width, ((event.clientY - area.top) * height) / area.height]; };
    box.addEventListener("pointerdown", (event) => { start = place(event); box.setPointerCapture(event.pointerId); event.preventDefault(); });
    box.addEventListener("pointermove", (event) => { if (start) { this.frame = [chart, start, place(event)]; this.show(); } });
    box.addEventListener("pointerup", (event) => {
      const end = place(event);
      this.frame = Math.abs(end[0] - start[0]) + Math.abs(end[1] - start[1]) < 6 ? [chart, [end[0] - 8, end[1] - 8], [end[0] + 8, end[1] + 8]] : [chart, start, end];
      start = null;
      this.show();
    });
    return chart;
  }

  _passes(one, n) {
    const wanted = (name) => this.place.querySelector(`[name="${name}"]`).value;
    if (wanted("engine") && one.engine !== wanted("engine")) return false;
    if (wanted("outcome") && this.data.outcomes[one.outcome] !== wanted("outcome")) return false;
    if (wanted("level") && this.data.levels[one.level] !== wanted("level")) return false;
    if (!this.frame) return true;
    const [chart, from, to] = this.frame, [x, y] = chart.at[n];
    return x >= Math.min(from[0], to[0]) && x <= Math.max(from[0], to[0]) && y >= Math.min(from[1], to[1]) && y <= Math.max(from[1], to[1]);
  }

  show() {
    const passing = this.points.map((one, n) => this._passes(one, n)), chosen = this.points.filter((_, n) => passing[n]);
    for (const chart of this.charts) {
      chart.marks.forEach((mark, n) => mark.classList.toggle("dim", !passing[n]));
      const [framed, from, to] = this.frame || [null, [0, 0], [0, 0]], drawn = framed === chart;
      for (const [n, name] of ["x", "y"].entries()) chart.frame.setAttribute(name, Math.min(from[n], to[n]));
      chart.frame.setAttribute("width", drawn ? Math.abs(to[0] - from[0]) : 0);
      chart.frame.setAttribute("height", drawn ? Math.abs(to[1] - from[1]) : 0);
    }
    this.part("counted").textContent = `${count(chosen.length, "decision")} of ${this.points.length.toLocaleString("en")}, ${count(new Set(chosen.map((one) => one.instance)).size, "instance")}`;
    const rows = chosen.slice(0, MOST_INSTANCES).map((one) => el("tr", {},
      el("th", { scope: "row" }, one.section ? el("a", { href: `#${one.section}` }, one.instance) : one.instance), el("td", {}, one.engine), el("td", {}, one.model),
      el("td", { class: "number" }, `${one.tasks}`), el("td", {}, this.data.outcomes[one.outcome]), el("td", {}, this.data.levels[one.level]), el("td", {}, one.value), el("td", {}, one.optimum),
      el("td", { class: "number" }, one.seconds === null ? "" : one.seconds.toFixed(2))));
    this.part("list").replaceChildren(grid("Chosen decisions", ["instance", "engine", "model", "#tasks", "outcome", "first difference", "value", "optimum", "#seconds"], rows, chosen.length - rows.length));
  }
}

const points = document.getElementById("linked");
if (points) new Points(points, JSON.parse(document.getElementById("points-data").textContent));

// A link into a folded section opens it.
function openFolded() {
  const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1)), folded = target && target.querySelector("details.folded");
  if (folded) folded.open = true;
}
addEventListener("hashchange", openFolded);
openFolded();

// The levels of all decisions, most important first, each with a bar from the worst value to the best and its bound.
function ladder(cluster) {
  const views = cluster.views.filter((view) => view.levels.length);
  if (!views.length) return [];
  const decisive = new Set(views.map((view) => view.decides).filter(Boolean));
  const rows = views[views.length - 1].levels.map(([label, words, better]) => {
    const mine = views.map((view) => view.levels.find((level) => level[0] === label) || null);
    const proofs = mine.map((level) => level && level[4]).filter(Boolean);
    return el("tr", { class: decisive.has(label) ? "chosen" : false }, el("th", { scope: "row" }, label, decisive.has(label) && el("span", { class: "worse" }, " decides"), el("small", { class: "quiet" }, words)),
      el("td", {}, bar(views, mine, better)), mine.map((level) => el("td", {}, level ? level[3] : "–")), el("td", { class: "quiet" }, proofs.join("; ")));
  });
  return [el("details", { open: true }, el("summary", {}, "Levels, most important first"), grid("Levels", ["level", "worse to better", ...views.map((view) => view.name), "proof"], rows, 0))];
}

// One mark per decision, and a line where the bound is; nothing where the values are no numbers or all the same.
function bar(views, levels, better) {
  const numbers = levels.map((level) => (level && typeof level[5] === "number" ? level[5] : null));
  const bounds = levels.map((level) => (level && typeof level[6] === "number" ? level[6] : null)).filter((one) => one !== null);
  const all = [...numbers.filter((one) => one !== null), ...bounds], low = Math.min(...all), high = Math.max(...all);
  if (!all.length || low === high) return null;
  const at = (value) => `${(100 * (better === "more" ? value - low : high - value)) / (high - low)}%`;
  const told = views.map((view, n) => `${view.name} ${levels[n] ? levels[n][3] : "has no value"}`).join(", ");
  return el("div", { class: "ladder", role: "img", "aria-label": told },
    bounds.slice(-1).map((bound) => el("i", { class: "bound", style: { "--at": at(bound) }, title: "bound" })),
    numbers.map((value, n) => value !== null && el("i", { class: n === views.length - 1 ? "mark last" : "mark", style: { "--at": at(value) }, title: `${views[n].name}: ${levels[n][3]}` })));
}

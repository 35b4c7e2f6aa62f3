"use strict";
(() => {
  const tip = document.getElementById("tip");
  const clusters = document.querySelectorAll(".cluster");
  let marked = [];

  function show(block) {
    hide();
    tip.textContent = block.getAttribute("aria-label");
    tip.hidden = false;
    const at = block.getBoundingClientRect(), size = tip.getBoundingClientRect();
    const left = Math.min(Math.max(8, at.left), innerWidth - size.width - 8);
    const above = at.top - size.height - 8;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${above > 8 ? above : at.bottom + 8}px`;
    const key = block.dataset.key;
    marked = [...block.closest(".cluster").querySelectorAll(".block")].filter((one) => one.dataset.key === key);
    for (const one of marked) one.classList.add("same");
  }

  function hide() {
    tip.hidden = true;
    for (const one of marked) one.classList.remove("same");
    marked = [];
  }

  // One stop of the Tab key per picture; the arrow keys walk inside it, left and right in a bar, up and down between bars.
  function walk(cluster, from, key) {
    const rows = [...cluster.querySelectorAll(".bar ol")].filter((row) => row.children.length && row.getClientRects().length);
    const row = from.parentElement, line = [...row.children];
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 };
    if (key === "Home") return line[0];
    if (key === "End") return line[line.length - 1];
    if (key === "ArrowLeft" || key === "ArrowRight") {
      const next = line[line.indexOf(from) + steps[key]];
      if (next) return next;
    }
    const other = rows[rows.indexOf(row) + steps[key]];
    if (!other) return from;
    return key === "ArrowLeft" ? other.lastElementChild : other.firstElementChild;
  }

  for (const cluster of clusters) {
    const first = cluster.querySelector(".block");
    if (first) first.tabIndex = 0;
    cluster.addEventListener("keydown", (event) => {
      if (event.key === "Escape") hide();
      if (!event.target.classList.contains("block")) return;
      if (!["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].includes(event.key)) return;
      event.preventDefault();
      const next = walk(cluster, event.target, event.key);
      event.target.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
    for (const [kind, does] of [["mouseover", show], ["focusin", show], ["mouseout", hide], ["focusout", hide]]) {
      cluster.addEventListener(kind, (event) => {
        const block = event.target.closest(".block");
        if (block) does(block);
      });
    }
  }

  // Every table of the report sorts by a click on a column: up, down, and as it was.
  const number = (text) => (/^[-−]?[\d,]+(\.\d+)?( ?%| s)?$/.test(text) ? parseFloat(text.replace(/,/g, "").replace("−", "-")) : NaN);
  function sortBy(table, column, direction) {
    const body = table.tBodies[0], rows = [...body.rows];
    rows.forEach((row, n) => { if (row.dataset.place === undefined) row.dataset.place = n; });
    const text = (row) => row.cells[column].textContent.trim();
    rows.sort((one, other) => {
      if (!direction) return one.dataset.place - other.dataset.place;
      const [a, b] = [text(one), text(other)], [x, y] = [number(a), number(b)];
      return direction * (Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, "en", { numeric: true }) : x - y);
    });
    body.append(...rows);
  }
  for (const table of document.querySelectorAll("main > section table")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button"), mark = document.createElement("span");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes, mark);
      head.append(button);
      button.addEventListener("click", () => {
        const before = head.getAttribute("aria-sort"), next = before === "ascending" ? "descending" : before ? "" : "ascending";
        for (const one of heads) {
          one.removeAttribute("aria-sort");
          one.querySelector(".sort span").textContent = "";
        }
        if (next) head.setAttribute("aria-sort", next);
        mark.textContent = next === "ascending" ? " ▲" : next ? " ▼" : "";
        sortBy(table, column, next === "ascending" ? 1 : next ? -1 : 0);
      });
    });
  }

  addEventListener("scroll", () => { if (!document.activeElement.classList.contains("block")) hide(); }, { passive: true });
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details:not([open])")) {
      details.open = true;
      details.dataset.closed = "";
    }
  });
  addEventListener("afterprint", () => {
    for (const details of document.querySelectorAll("details[data-closed]")) {
      details.open = false;
      delete details.dataset.closed;
    }
  });
})();

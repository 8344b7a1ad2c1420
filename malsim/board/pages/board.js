"use strict";
(() => {
  const table = document.querySelector("table.board");
  if (!table) return;
  const body = table.tBodies[0], rows = [...body.rows], heads = [...table.tHead.rows[0].cells];
  const number = cell => cell.dataset.value === undefined || cell.dataset.value === "" ? null : Number(cell.dataset.value);
  const find = document.getElementById("find"), kind = document.getElementById("kind"), said = document.getElementById("said");

  function sort(place) {
    const head = heads[place], down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach(each => each.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    rows.sort((a, b) => {
      if (!place) return a.cells[0].textContent.localeCompare(b.cells[0].textContent) * (down ? -1 : 1);
      const [x, y] = [number(a.cells[place]), number(b.cells[place])];
      return x === null || y === null ? (x === null) - (y === null) : (x - y) * (down ? -1 : 1);
    });
    body.append(...rows);
  }
  heads.forEach((head, place) => head.querySelector("button")?.addEventListener("click", () => sort(place)));

  function filter() {
    const words = find.value.toLowerCase();
    rows.forEach(row => { row.hidden = !(row.dataset.name.toLowerCase().includes(words) && (!kind.value || row.dataset.kind === kind.value)); });
    said.textContent = `${rows.filter(row => !row.hidden).length} of ${rows.length} rows`;
  }
  find.addEventListener("input", filter); kind.addEventListener("change", filter);

  const pair = document.getElementById("pair"), chosen = [];
  function compare() {
    pair.replaceChildren();
    if (chosen.length < 2) { pair.hidden = true; return; }
    pair.hidden = false;
    const [one, other] = chosen.map(name => rows.find(row => row.dataset.name === name));
    const caption = document.createElement("caption"); caption.textContent = `${chosen[0]} beside ${chosen[1]}`;
    pair.append(caption);
    const line = (tag, texts) => {
      const row = pair.insertRow();
      texts.forEach((text, place) => { const cell = document.createElement(place && tag === "td" ? "td" : "th"); cell.textContent = text; cell.scope = place ? "col" : "row"; if (place === 3) cell.className = "words"; row.append(cell); });
    };
    line("th", ["", chosen[0], chosen[1], "told apart"]);
    heads.slice(1).forEach((head, place) => {
      const [a, b] = [one.cells[place + 1], other.cells[place + 1]];
      const above = (cell, name) => (cell.dataset.above || "").split("|").includes(name);
      let verdict = "";
      if (a.dataset.above !== undefined && b.dataset.above !== undefined)
        verdict = above(a, chosen[1]) ? `${chosen[0]} is better` : above(b, chosen[0]) ? `${chosen[1]} is better` : "not told apart";
      line("td", [head.dataset.name, a.dataset.text, b.dataset.text, verdict]);
    });
  }
  table.addEventListener("change", event => {
    const box = event.target;
    if (!box.classList.contains("pick")) return;
    if (box.checked) chosen.push(box.value); else chosen.splice(chosen.indexOf(box.value), 1);
    while (chosen.length > 2) { const first = chosen.shift(); document.querySelectorAll(".pick").forEach(each => { if (each.value === first) each.checked = false; }); }
    compare();
  });
  filter();
})();

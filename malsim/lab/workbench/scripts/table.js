// Rows of text; a row that can be clicked sends its index.
export function render({ model, el }) {
  function build() {
    el.replaceChildren();
    if (!model.rows.length) {
      const none = document.createElement("p"); none.className = "soft"; none.textContent = model.empty; el.append(none);
      return;
    }
    const table = document.createElement("table");
    if (model.heads.length) {
      const head = table.createTHead().insertRow();
      for (const name of model.heads) { const th = document.createElement("th"); th.textContent = name; head.append(th); }
    }
    const body = table.createTBody();
    model.rows.forEach((row, index) => {
      const tr = body.insertRow();
      for (const cell of row.cells) {
        const td = tr.insertCell();
        if (typeof cell === "object") { td.textContent = cell.text; td.className = cell.look || ""; if (cell.title) td.title = cell.title; }
        else td.textContent = cell;
      }
      if (row.click) {
        tr.className = "click"; tr.tabIndex = 0;
        tr.onclick = () => model.send_msg({ row: index });
        tr.onkeydown = (event) => { if (event.key === "Enter") model.send_msg({ row: index }); };
      }
    });
    el.append(table);
  }
  model.on("rows", build); model.on("empty", build);
  build();
}

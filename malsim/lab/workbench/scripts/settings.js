// The settings as sliders, numbers and choices. A change is sent at once; the server keeps the newest.
const rounded = (x) => Number(x.toPrecision(4));
const toPart = (row, v) => row.log ? Math.log(Math.max(v, row.from) / row.from) / Math.log(row.to / row.from) : (v - row.from) / (row.to - row.from);
const fromPart = (row, p) => {
  const v = row.log ? row.from * (row.to / row.from) ** p : row.from + p * (row.to - row.from);
  return row.whole ? Math.round(v) : rounded(v);
};

function element(tag, attributes = {}, text = "") {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== "" && value != null) made.setAttribute(name, value);
  if (text) made.textContent = text;
  return made;
}

export function render({ model, el }) {
  const rows = new Map();
  const search = element("input", { type: "search", placeholder: "Search settings", "aria-label": "Search settings", style: "width:100%" });
  const changedOnly = element("input", { type: "checkbox" });
  const label = element("label", {}, "");
  label.append(changedOnly, " changed only");
  const resetAll = element("button", { type: "button" }, "Reset all");
  const line = element("div", { class: "line", style: "margin:6px 0 2px" });
  line.append(label, resetAll);
  const list = element("div");
  el.append(search, line, list);
  resetAll.onclick = () => model.send_msg({ reset: "all" });

  const send = (name, value) => model.send_msg({ name, value });
  const now = (row) => (row.name in model.values ? model.values[row.name] : row.value);

  function build() {
    const open = new Set([...list.querySelectorAll("details[open]")].map((d) => d.dataset.title));
    const first = rows.size === 0;
    rows.clear();
    list.replaceChildren();
    for (const group of model.groups) {
      const details = element("details", { "data-title": group.title });
      details.open = first ? group.open : open.has(group.title);
      details.append(element("summary", {}, group.title));
      for (const row of group.rows) details.append(make(row));
      list.append(details);
    }
    show();
  }

  function make(row) {
    const box = element("div", { class: "setting", "data-name": row.name });
    const top = element("div", { class: "top" });
    const name = element("span", { class: "name", title: row.about });
    name.textContent = row.label + (row.unit && row.unit !== "1" ? ` (${row.unit})` : "");
    const reset = element("button", { class: "plain", type: "button", title: "Reset", "aria-label": `Reset ${row.label}` }, "↺");
    reset.onclick = () => model.send_msg({ reset: row.name });
    const parts = { box, reset, row };
    if (row.choices.length) {
      parts.select = element("select", { "aria-label": row.label });
      for (const choice of row.choices) parts.select.append(element("option", { value: choice }, choice));
      parts.select.onchange = () => send(row.name, parts.select.value);
      top.append(name, parts.select, reset);
      box.append(top);
    } else {
      parts.number = element("input", { type: "number", step: "any", "aria-label": row.label });
      parts.number.onchange = () => send(row.name, parts.number.value === "" ? null : Number(parts.number.value));
      top.append(name, parts.number, reset);
      parts.range = element("input", { type: "range", min: 0, max: 1000, step: 1, "aria-label": `${row.label}, slider` });
      parts.range.oninput = () => {
        const value = fromPart(row, parts.range.value / 1000);
        parts.number.value = value;
        send(row.name, value);
      };
      box.append(top, parts.range);
    }
    parts.error = element("div", { class: "wb-error", role: "alert" });
    box.append(parts.error);
    rows.set(row.name, parts);
    return box;
  }

  function show() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const [name, parts] of rows) {
      const value = now(parts.row);
      const changed = name in model.values;
      const active = el.getRootNode().activeElement;
      parts.box.classList.toggle("changed", changed);
      parts.reset.style.visibility = changed ? "visible" : "hidden";
      if (parts.select) parts.select.value = value;
      else if (!model.errors[name]) {
        if (active !== parts.number) parts.number.value = value;
        if (active !== parts.range) parts.range.value = Math.round(1000 * toPart(parts.row, value));
      }
      parts.error.textContent = model.errors[name] || "";
      const text = `${name} ${parts.row.label} ${parts.row.about}`.toLowerCase();
      const hit = words.every((word) => text.includes(word)) && (!changedOnly.checked || changed);
      parts.box.hidden = !hit;
    }
    for (const details of list.children) {
      const any = [...details.querySelectorAll(".setting")].some((box) => !box.hidden);
      details.hidden = !any;
      if ((words.length || changedOnly.checked) && any) details.open = true;
    }
  }

  search.oninput = show;
  changedOnly.onchange = show;
  model.on("groups", build);
  model.on("values", show);
  model.on("errors", show);
  build();
}

// The traces by panel, with the value of each at the day under the cursor. A click shows or hides a trace.
const DASHES = { solid: "", dashed: "6 3", dotted: "2 2", dotdash: "2 3 6 3", dashdot: "6 3 2 3" };
const SVG = "http://www.w3.org/2000/svg";

function at(trace, day) {
  let low = 0, high = trace.t.length;
  while (low < high) { const middle = (low + high) >> 1; if (trace.t[middle] <= day) low = middle + 1; else high = middle; }
  return low ? trace.v[low - 1] : null;
}
const shown = (v) => (v == null || Number.isNaN(v) ? "–" : Number.isInteger(v) ? String(v) : v.toFixed(3));

export function render({ model, el }) {
  const head = document.createElement("div");
  const search = document.createElement("input");
  search.type = "search"; search.placeholder = "Search traces"; search.setAttribute("aria-label", "Search traces"); search.style.width = "100%";
  const list = document.createElement("div");
  list.className = "list";
  el.append(head, search, list);
  let day = model.day, values = [];

  function swatch(trace) {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("width", 22); svg.setAttribute("height", 8); svg.classList.add("swatch");
    const line = document.createElementNS(SVG, "line");
    for (const [k, v] of Object.entries({ x1: 0, x2: 22, y1: 4, y2: 4, stroke: trace.colour, "stroke-width": 2.4, "stroke-dasharray": DASHES[trace.dash] })) line.setAttribute(k, v);
    svg.append(line);
    return svg;
  }

  function build() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    list.replaceChildren();
    values = [];
    for (const panel of model.panels) {
      const rows = panel.traces.filter((t) => words.length ? words.every((w) => `${t.name} ${t.label}`.toLowerCase().includes(w)) : t.shown || panel.traces.length <= 12);
      if (!rows.length) continue;
      const title = document.createElement("div");
      title.className = "soft small"; title.style.marginTop = "8px";
      const hidden = panel.traces.length - panel.traces.filter((t) => t.shown).length;
      title.textContent = panel.title + (hidden ? `, ${hidden} hidden` : "");
      list.append(title);
      for (const trace of rows.slice(0, 60)) {
        const row = document.createElement("div");
        row.className = "trace" + (trace.shown ? "" : " off");
        row.tabIndex = 0; row.setAttribute("role", "checkbox"); row.setAttribute("aria-checked", trace.shown); row.dataset.name = trace.name;
        row.title = trace.label;
        const what = document.createElement("span"); what.className = "what";
        what.textContent = trace.name + (trace.same ? ` = ${trace.same}` : "");
        const value = document.createElement("span"); value.className = "value";
        row.append(swatch(trace), what, value);
        const toggle = () => model.send_msg({ panel: panel.name, name: trace.name, shown: !trace.shown });
        row.onclick = toggle;
        row.onkeydown = (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); toggle(); } };
        list.append(row);
        values.push([trace, value]);
      }
    }
    read();
  }

  function read() {
    head.textContent = day == null ? "" : `day ${Number(day.toFixed(2))}`;
    head.style.fontWeight = 600; head.style.marginBottom = "4px";
    const all = {};
    for (const panel of model.panels) for (const trace of panel.traces) if (trace.t) all[trace.name] = at(trace, day);
    for (const [trace, place] of values) place.textContent = trace.t ? shown(all[trace.name] == null ? at(trace, day) : at(trace, day)) : "";
    window.dispatchEvent(new CustomEvent("malsim-values", { detail: { key: model.key, values: all, signals: model.signals, day } }));
  }

  const follow = (event) => { if (event.detail.key === model.key) { day = event.detail.day; read(); } };
  window.addEventListener("malsim-day", follow);
  model.on("remove", () => window.removeEventListener("malsim-day", follow));
  search.oninput = build;
  model.on("panels", build);
  model.on("day", () => { day = model.day; read(); });
  build();
}

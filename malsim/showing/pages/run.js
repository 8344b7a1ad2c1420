"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const { times, panels, labels, reasons, events } = data;
const COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "var(--ink)"];
const DASHES = ["", "6 2", "2 2", "6 2 2 2", "4 2 1 2 1 2"];
const LEFT = 44, RIGHT = 8, TOP = 8, FOOT = 30, HEIGHT = 230, FIRST = 12, NEAR = 3;
const names = [...new Set(panels.flatMap((panel) => Object.keys(panel.lines)))];
const looks = new Map();
for (const panel of panels) {
  Object.keys(panel.lines).forEach((name, place) => {
    if (!looks.has(name)) looks.set(name, { family: panel.family, on: place < FIRST, colour: COLOURS[place % 7], dash: DASHES[Math.floor(place / 7) % 5] });
  });
}
let here = times.length - 1, chosen = "", span = [times[0] ?? 0, times[times.length - 1] ?? 1], dragged = null;

const told = (value) => (value == null ? "–" : String(+value.toPrecision(4)));
const make = (tag, marks, text) => {
  const made = document.createElementNS("http:" + "//www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(marks)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
};
const nearest = (day) => {
  let best = 0;
  times.forEach((t, place) => { if (Math.abs(t - day) < Math.abs(times[best] - day)) best = place; });
  return best;
};
const steps = (low, high, count) => {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) found.push(+(k * step).toPrecision(12));
  return found;
};

function scales(panel, width) {
  let low = Infinity, high = -Infinity;
  for (const part of [panel.lines, panel.low ?? {}, panel.high ?? {}]) {
    for (const [name, values] of Object.entries(part)) {
      if (looks.get(name).on) for (const value of values) if (value != null) { low = Math.min(low, value); high = Math.max(high, value); }
    }
  }
  if (low >= 0 && high <= 1) { low = 0; high = 1; }
  if (!(low < high)) { low = Number.isFinite(low) ? low - 1 : 0; high = low + 2; }
  const wide = (span[1] - span[0]) || 1;
  return {
    low, high,
    x: (t) => LEFT + (t - span[0]) / wide * (width - LEFT - RIGHT),
    y: (value) => TOP + (high - value) / (high - low) * (HEIGHT - TOP - FOOT),
    day: (x) => span[0] + (x - LEFT) / (width - LEFT - RIGHT) * wide,
  };
}

function path(values, scale) {
  let drawn = "", pen = "M";
  values.forEach((value, place) => {
    if (value == null) { pen = "M"; return; }
    const x = scale.x(times[place]).toFixed(1);
    drawn += (pen === "L" ? "H" + x : "") + pen + x + " " + scale.y(value).toFixed(1);
    pen = "L";
  });
  return drawn;
}

function area(low, high, scale) {
  const places = times.map((_, place) => place).filter((place) => low[place] != null && high[place] != null);
  const corners = (values) => places.flatMap((place, number) => [place, places[number + 1] ?? place].map(
    (day) => scale.x(times[day]).toFixed(1) + " " + scale.y(values[place]).toFixed(1)));
  return places.length ? "M" + [...corners(high), ...corners(low).reverse()].join("L") + "Z" : "";
}

function drawPanel(panel, number) {
  const svg = at("panel" + number), width = at("panels").clientWidth || 600, scale = scales(panel, width);
  const shown = Object.keys(panel.lines).filter((name) => looks.get(name).on).sort((a, b) => (a === chosen) - (b === chosen));
  at("title" + number).hidden = at("panel" + number).toggleAttribute("hidden", !shown.length);
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  svg.setAttribute("height", HEIGHT);
  const foot = HEIGHT - FOOT, clip = make("clipPath", { id: "clip" + number });
  clip.append(make("rect", { x: LEFT, y: 0, width: width - LEFT - RIGHT, height: foot + 2 }));
  svg.append(clip);
  for (const value of steps(scale.low, scale.high, 5)) {
    svg.append(make("line", { x1: LEFT, x2: width - RIGHT, y1: scale.y(value), y2: scale.y(value), stroke: "var(--line)" }));
    svg.append(make("text", { x: LEFT - 6, y: scale.y(value) + 4, "text-anchor": "end" }, told(value)));
  }
  for (const t of steps(span[0], span[1], Math.max(3, width / 90))) {
    svg.append(make("text", { x: scale.x(t), y: foot + 14, "text-anchor": "middle" }, told(t)));
  }
  svg.append(make("text", { x: width - RIGHT, y: HEIGHT - 3, "text-anchor": "end" }, "days"));
  const drawing = make("g", { "clip-path": `url(#clip${number})` });
  svg.append(drawing);
  for (const name of shown) {
    const look = looks.get(name), values = panel.lines[name];
    if (panel.low) drawing.append(make("path", { d: area(panel.low[name], panel.high[name], scale), fill: look.colour, opacity: 0.15 }));
    drawing.append(make("path", {
      d: path(values, scale), fill: "none", stroke: look.colour, "stroke-dasharray": look.dash, "stroke-linejoin": "round",
      "stroke-width": name === chosen ? 3.5 : 1.6, opacity: chosen && looks.get(chosen).family === look.family && name !== chosen ? 0.45 : 1,
    }));
    if (values[here] != null) drawing.append(make("circle", { cx: scale.x(times[here]), cy: scale.y(values[here]), r: name === chosen ? 5 : 3, fill: look.colour }));
  }
  drawing.append(make("line", { x1: scale.x(times[here]), x2: scale.x(times[here]), y1: TOP, y2: foot, stroke: "var(--ink)", "stroke-width": 1, opacity: 0.6 }));
}

function lineAt(panel, number, event) {
  const box = at("panel" + number).getBoundingClientRect(), scale = scales(panel, box.width);
  const place = nearest(scale.day(event.clientX - box.left));
  let best = { place, name: "", far: Infinity };
  for (const [name, values] of Object.entries(panel.lines)) {
    if (!looks.get(name).on || values[place] == null) continue;
    const far = Math.abs(scale.y(values[place]) - (event.clientY - box.top));
    if (far < best.far) best = { place, name, far, value: values[place] };
  }
  return { ...best, day: scale.day(event.clientX - box.left) };
}

function because() {
  if (!times.length) return "This run recorded nothing that could be drawn.";
  if (!chosen) return "Choose a line, here or in the list, to be told why it is where it is on this day.";
  const found = (reasons[chosen] ?? []).filter(([place]) => place <= here).pop();
  if (!found) return reasons[chosen] ? `${chosen} was not there yet on day ${told(times[here])}.` : `${chosen} is a mean over replications; run one of them alone to be told why.`;
  return (found[0] < here ? `Last told of day ${told(times[found[0]])}: ` : "") + found[1];
}

function draw() {
  panels.forEach(drawPanel);
  at("time").value = here;
  at("day").textContent = times.length ? `day ${told(times[here])}` : "";
  at("told").textContent = because();
  for (const row of document.querySelectorAll("[data-name]")) {
    const name = row.dataset.name, panel = panels.find((each) => name in each.lines);
    row.classList.toggle("chosen", name === chosen);
    row.querySelector("input").checked = looks.get(name).on;
    row.querySelector("output").textContent = told(panel.lines[name][here]);
  }
  const from = here ? times[here - 1] : -Infinity, now = events.filter(([t]) => t > from && t <= times[here]);
  at("when").textContent = `Since the tick before: ${now.length === 1 ? "1 event" : now.length ? `${now.length} events` : "no events listed"}`;
  at("events").replaceChildren(...now.slice(0, 100).map(([t, ...said]) => {
    const row = document.createElement("li");
    row.textContent = `day ${told(t)}: ${said.filter(Boolean).join(" · ")}`;
    return row;
  }));
}

function go(place, name) {
  here = Math.max(0, Math.min(times.length - 1, place));
  if (name !== undefined) chosen = name;
  if (chosen) looks.get(chosen).on = true;
  const t = times[here];
  if (t < span[0] || t > span[1]) span = [times[0], times[times.length - 1]];
  history.replaceState(null, "", "#" + new URLSearchParams({ t, ...(chosen && { why: chosen }) }));
  draw();
}

function zoom(low, high) {
  span = [Math.max(times[0], low), Math.min(times[times.length - 1], high)];
  if (!(span[0] < span[1])) span = [times[0], times[times.length - 1]];
  draw();
}

const closer = (factor) => zoom(times[here] - (times[here] - span[0]) * factor, times[here] + (span[1] - times[here]) * factor);

function listen(panel, number) {
  const svg = at("panel" + number);
  svg.onpointerdown = (event) => { dragged = lineAt(panel, number, event).day; };
  svg.onpointermove = (event) => {
    const found = lineAt(panel, number, event);
    if (found.name) at("under").textContent = `${found.name} ${told(found.value)} on day ${told(times[found.place])}${labels[found.name] ? " · " + labels[found.name] : ""}`;
  };
  svg.onpointerup = (event) => {
    const found = lineAt(panel, number, event), from = dragged ?? found.day, wide = span[1] - span[0];
    dragged = null;
    if (Math.abs(found.day - from) > wide * NEAR / 100) zoom(Math.min(from, found.day), Math.max(from, found.day));
    else go(found.place, found.name || undefined);
  };
  svg.onpointercancel = () => { dragged = null; };
  svg.ondblclick = () => zoom(-Infinity, Infinity);
}

function key(name) {
  const row = document.createElement("label"), look = looks.get(name), box = document.createElement("input");
  const swatch = make("svg", { viewBox: "0 0 24 8", height: 8 }), title = document.createElement("span"), about = document.createElement("small");
  row.dataset.name = name;
  box.type = "checkbox";
  box.onchange = () => { look.on = box.checked; if (!look.on && chosen === name) chosen = ""; draw(); };
  swatch.append(make("line", { x1: 0, x2: 24, y1: 4, y2: 4, stroke: look.colour, "stroke-width": 3, "stroke-dasharray": look.dash }));
  title.textContent = name;
  title.title = labels[name] ? `${name}: ${labels[name]}` : name;
  about.textContent = labels[name] ?? "";
  if (about.textContent) title.append(about);
  const end = document.createElement("span"), ask = document.createElement("button");
  ask.textContent = "why?";
  ask.onclick = (event) => { event.preventDefault(); go(here, name); };
  end.append(document.createElement("output"), " ", ask);
  end.firstChild.style.minWidth = 0;
  row.append(box, swatch, title, end);
  return row;
}

function build() {
  panels.forEach((panel, number) => {
    const title = document.createElement("h2");
    title.textContent = panel.title;
    title.id = "title" + number;
    at("panels").append(title, make("svg", { id: "panel" + number, role: "img", "aria-label": panel.title }));
    listen(panel, number);
  });
  for (const family of new Set([...looks.values()].map((look) => look.family))) {
    const title = document.createElement("h2"), keys = document.createElement("div");
    title.textContent = family;
    keys.className = "keys";
    keys.append(...names.filter((name) => looks.get(name).family === family).map(key));
    at("keys").append(title, keys);
  }
  const every = (on) => () => { looks.forEach((look) => { look.on = on; }); if (!on) chosen = ""; draw(); };
  at("all").onclick = every(true);
  at("none").onclick = every(false);
  at("in").onclick = () => closer(0.5);
  at("out").onclick = () => closer(2);
  at("whole").onclick = () => zoom(-Infinity, Infinity);
  at("time").max = Math.max(0, times.length - 1);
  at("time").oninput = () => go(+at("time").value);
  at("find").oninput = () => {
    const asked = at("find").value.toLowerCase();
    for (const row of document.querySelectorAll("[data-name]")) row.hidden = !`${row.dataset.name} ${labels[row.dataset.name] ?? ""}`.toLowerCase().includes(asked);
  };
  addEventListener("resize", draw);
  const asked = new URLSearchParams(location.hash.slice(1));
  if (looks.has(asked.get("why"))) chosen = asked.get("why");
  if (chosen) looks.get(chosen).on = true;
  if (asked.has("t") && times.length) here = nearest(+asked.get("t"));
  draw();
}

build();

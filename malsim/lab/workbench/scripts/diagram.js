// A net as boxes and wires, with the value of each signal at the day under the cursor.
const SVG = "http://www.w3.org/2000/svg";
const WIDE = 132, APART = 236, PIN = 17, HEAD = 24;

function node(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text != null) made.textContent = text;
  return made;
}
const shown = (v) => (v == null || Number.isNaN(v) ? "" : Number.isInteger(v) ? String(v) : v.toFixed(2));

export function render({ model, el }) {
  let places = new Map(), last = {};
  const frame = document.createElement("div"); frame.style.overflow = "auto"; el.append(frame);

  function build() {
    places = new Map(); frame.replaceChildren();
    const boxes = new Map(), layers = new Map();
    for (const box of model.boxes) { if (!layers.has(box.layer)) layers.set(box.layer, []); layers.get(box.layer).push(box); }
    let bottom = 0;
    for (const [layer, list] of layers) {
      let y = 10;
      for (const box of list.sort((a, b) => a.place - b.place)) {
        const pins = Math.max(box.ins.length, box.outs.length, box.kind === "op" ? 1 : 0);
        const height = box.kind === "op" ? HEAD + PIN * pins + 4 : HEAD;
        boxes.set(box.name, { ...box, x: 10 + layer * APART, y, height });
        y += height + 22;
      }
      bottom = Math.max(bottom, y);
    }
    const svg = node("svg", { class: "net", width: 20 + APART * layers.size, height: bottom + 10, role: "img", "aria-label": "Diagram of the netlist" });
    const end = (box, pin, out) => {
      const row = box.kind === "op" ? Math.max(0, (out ? box.outs : box.ins).indexOf(pin)) : 0;
      return [box.x + (out ? WIDE : 0), box.y + (box.kind === "op" ? HEAD + PIN * row + 8 : HEAD / 2)];
    };
    for (const wire of model.wires) {
      const source = boxes.get(wire.source), target = boxes.get(wire.target);
      if (!source || !target) continue;
      const [x1, y1] = end(source, wire.source_pin, true), [x2, y2] = end(target, wire.target_pin, false);
      const bend = Math.max(40, Math.abs(x2 - x1) / 2);
      svg.append(node("path", { d: `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`, "stroke-dasharray": wire.late ? "5 3" : "" }));
      if (!places.has(wire.signal)) {
        const name = wire.signal.length > 15 ? wire.signal.slice(0, 14) + "…" : wire.signal;
        if (wire.signal !== wire.source) svg.append(node("text", { x: x1 + 6, y: y1 - 4 }, name));
        const value = node("text", { x: x1 + 6, y: y1 + 12, class: "value" }, "");
        value.dataset.signal = wire.signal;
        svg.append(value); places.set(wire.signal, value);
      }
    }
    for (const box of boxes.values()) {
      svg.append(node("rect", { x: box.x, y: box.y, width: WIDE, height: box.height, rx: 5 }));
      const title = box.title.length > 22 ? box.title.slice(0, 21) + "…" : box.title;
      const text = node("text", { x: box.x + WIDE / 2, y: box.y + 16, "text-anchor": "middle" }, title);
      text.append(node("title", {}, `${box.title}\n${box.note}`));
      svg.append(text);
      if (box.kind !== "op") continue;
      box.ins.forEach((pin, row) => svg.append(node("text", { x: box.x + 6, y: box.y + HEAD + PIN * row + 12 }, pin)));
      box.outs.forEach((pin, row) => svg.append(node("text", { x: box.x + WIDE - 6, y: box.y + HEAD + PIN * row + 12, "text-anchor": "end" }, pin)));
    }
    frame.append(svg);
    show(last);
  }
  function show(values) { last = values; for (const [signal, place] of places) place.textContent = shown(values[signal]); }
  const follow = (event) => { if (event.detail.key === model.key) show(event.detail.values); };
  window.addEventListener("malsim-values", follow);
  model.on("remove", () => window.removeEventListener("malsim-values", follow));
  for (const name of ["boxes", "wires"]) model.on(name, build); // Panel sends them one after the other
  build();
}

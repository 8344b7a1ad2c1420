// A text with line numbers; the linter's messages are marked at their lines. The text is sent 300 ms after the last key.
export function render({ model, el }) {
  const box = document.createElement("div"); box.className = "wb-editor";
  const gutter = document.createElement("div"); gutter.className = "gutter";
  const area = document.createElement("textarea"); area.spellcheck = false; area.setAttribute("aria-label", model.label); area.wrap = "off";
  area.placeholder = "No netlist yet. For example:\nloadrt watch names=weak\nnet low weak.in < HANDLE-scores-eff\nnet is-weak weak.below\nsetp weak.level 0.5\naddf weak tick";
  const messages = document.createElement("div"); messages.style.marginTop = "6px"; messages.setAttribute("role", "status");
  box.append(gutter, area); el.append(box, messages);
  let timer = null;

  function number() {
    const marks = new Map();
    for (const note of model.notes) if (!marks.has(note.line) || note.kind === "error") marks.set(note.line, note);
    gutter.replaceChildren();
    area.value.split("\n").forEach((_, index) => {
      const line = document.createElement("div"); const note = marks.get(index + 1);
      line.textContent = (note ? (note.kind === "error" ? "✗ " : "! ") : "") + (index + 1);
      if (note) { line.className = "wb-" + note.kind; line.title = note.text; }
      gutter.append(line);
    });
    gutter.scrollTop = area.scrollTop;
  }
  function tell() {
    messages.replaceChildren();
    for (const note of model.notes.slice(0, 12)) {
      const line = document.createElement("div"); line.className = note.kind === "error" ? "wb-error" : "small odd";
      line.textContent = (note.line ? `line ${note.line}: ` : "") + note.text;
      line.style.cursor = "pointer";
      line.onclick = () => { const start = area.value.split("\n").slice(0, note.line - 1).join("\n").length + 1; area.focus(); area.setSelectionRange(start, start); };
      messages.append(line);
    }
    number();
  }
  area.onscroll = () => { gutter.scrollTop = area.scrollTop; };
  area.oninput = () => { number(); clearTimeout(timer); timer = setTimeout(() => model.send_msg({ text: area.value }), 300); };
  model.on("notes", tell);
  model.on("text", () => { if (area.value !== model.text) { area.value = model.text; tell(); } });
  area.value = model.text;
  tell();
}

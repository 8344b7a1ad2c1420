// Labelled fields and buttons; a button sends its word with the fields' values.
export function render({ model, el }) {
  const fields = new Map();
  const line = document.createElement("div"); line.className = "line";
  const note = document.createElement("div"); note.className = "small"; note.setAttribute("role", "status"); note.style.marginTop = "4px";
  el.append(line, note);
  const values = () => Object.fromEntries([...fields].map(([name, input]) => [name, input.type === "checkbox" ? input.checked : input.value]));

  function build() {
    const before = values();
    const fresh = fields.size === 0;
    line.replaceChildren();
    fields.clear();
    for (const field of model.fields) {
      const label = document.createElement("label");
      label.append(field.label);
      let input;
      if (field.choices) {
        input = document.createElement("select");
        for (const choice of field.choices) { const option = document.createElement("option"); option.value = choice; option.textContent = choice; input.append(option); }
      } else {
        input = document.createElement("input");
        input.type = field.kind || "text";
        if (field.width) input.style.width = field.width;
        if (field.hint) input.placeholder = field.hint;
      }
      const value = fresh || field.fixed || !(field.name in before) ? field.value : before[field.name];
      if (input.type === "checkbox") input.checked = !!value; else if (value != null) input.value = value;
      if (field.live) input.onchange = () => model.send_msg({ press: field.name, values: values() });
      input.onkeydown = (event) => { if (event.key === "Enter" && model.buttons.length && !field.live) press(model.buttons[0].word); };
      label.append(input);
      fields.set(field.name, input);
      line.append(label);
    }
    for (const { word, title } of model.buttons) {
      const button = document.createElement("button");
      button.type = "button"; button.textContent = word; if (title) button.title = title;
      button.onclick = () => press(word);
      line.append(button);
    }
  }
  const press = (word) => model.send_msg({ press: word, values: values() });
  function say() { note.textContent = model.note; note.className = model.failed ? "wb-error" : "small soft"; }
  function offer() {  // a file made by the server, handed to the browser
    if (!model.file.name) return;
    const bytes = Uint8Array.from(atob(model.file.data), (c) => c.charCodeAt(0));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([bytes], { type: model.file.type }));
    link.download = model.file.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
  model.on("fields", build); model.on("buttons", build); model.on("note", say); model.on("failed", say); model.on("file", offer);
  build(); say();
}

// The head of the page: what is shown, how far a run is, how many checks hold, and what went wrong.
export function render({ model, el }) {
  el.innerHTML = `<div class="line" style="justify-content:space-between"><div style="min-width:0;flex:1 1 320px"><div class="title" style="font-size:18px;font-weight:650"></div>
    <div class="why soft small"></div></div><div class="line"><span class="checks"></span><span class="buttons line"></span></div></div>
    <div class="wb-progress" style="margin:8px 0 2px;visibility:hidden" role="progressbar" aria-label="Run"><i style="width:0"></i></div>
    <div class="holds line small"></div><div class="wb-error" role="alert"></div>`;
  const find = (name) => el.querySelector(name);
  function show() {
    find(".title").textContent = model.title;
    find(".why").textContent = model.about;
    find(".checks").textContent = model.checks;
    find(".checks").className = "checks small " + model.mark;
    find(".wb-error").textContent = model.error;
    const bar = find(".wb-progress");
    bar.style.visibility = model.progress >= 0 ? "visible" : "hidden";
    bar.setAttribute("aria-valuenow", Math.round(100 * Math.max(0, model.progress)));
    bar.firstElementChild.style.width = `${100 * Math.max(0, model.progress)}%`;
    const buttons = find(".buttons");
    buttons.replaceChildren();
    for (const word of model.buttons) {
      const button = document.createElement("button"); button.type = "button"; button.textContent = word;
      button.onclick = () => {
        if (word === "Copy link") navigator.clipboard?.writeText(window.location.href).catch(() => {});
        model.send_msg({ press: word });
      };
      buttons.append(button);
    }
    const holds = find(".holds");
    holds.replaceChildren();
    model.holds.forEach((hold, index) => {
      const part = document.createElement("span"); part.className = "soft";
      const off = document.createElement("button"); off.className = "plain"; off.type = "button"; off.textContent = "×"; off.setAttribute("aria-label", `Let go of ${hold}`);
      off.onclick = () => model.send_msg({ drop: index });
      part.append(`held: ${hold} `, off);
      holds.append(part);
    });
  }
  for (const name of ["title", "about", "checks", "mark", "error", "progress", "holds", "buttons"]) model.on(name, show);
  show();
}

/* The form that starts a crawl. Optional: with JavaScript, a collapsed group shows its changed fields. */
"use strict";

const SHOWN = 40; // characters of a value, as in web/forms/crawl_form.py

function shorten(text) {
  const line = text.split("\n").map((typed) => typed.trim()).filter(Boolean).join(", ");
  return line.length <= SHOWN ? line : `${line.slice(0, SHOWN - 1)}…`;
}

/* "Delay: 0.5"; empty for the default. */
function change(field) {
  const choices = field.querySelector("fieldset.choices");
  if (choices) return changeOfChoices(choices);
  const control = field.querySelector("input:not([type=hidden]), select, textarea");
  const { usual, secret } = control.dataset;
  const label = field.querySelector("label").textContent.trim();
  if (control.type === "checkbox") {
    const now = control.checked ? "on" : "off";
    return now === (usual || "off") ? "" : `${label}: ${now}`;
  }
  if (control.value.trim() === (usual || "")) return "";
  return `${label}: ${secret ? "given" : shown(control)}`;
}

/* "Events: Started, Finished"; none checked means the default. */
function changeOfChoices(choices) {
  const boxes = [...choices.querySelectorAll("input")];
  const ticked = boxes.filter((box) => box.checked);
  const now = ticked.map((box) => box.value).sort().join(" ");
  if (!now || now === boxes[0].dataset.usual.split(" ").sort().join(" ")) return "";
  const names = ticked.map((box) => box.closest("label").textContent.trim());
  return `${choices.querySelector("legend").textContent.trim()}: ${names.join(", ")}`;
}

function shown(control) {
  if (control.type === "file") return control.files[0].name;
  return control.tagName === "SELECT" ? control.selectedOptions[0].text : shorten(control.value);
}

function sumUp(group) {
  const changes = [...group.querySelectorAll(".field")].map(change).filter(Boolean);
  group.querySelector(".changed").textContent = changes.join(" · ");
}

function growWithLines(urls) {
  const fit = () => { urls.rows = Math.min(8, Math.max(1, urls.value.split("\n").length)); };
  urls.addEventListener("input", fit);
  urls.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || urls.value.includes("\n")) return;
    event.preventDefault(); // one URL and Enter: start; several lines come by pasting or Shift+Enter
    urls.form.requestSubmit();
  });
  fit();
}

/* Marks a field as valid or invalid after the server has validated it. */
function mark(event) {
  const field = event.target.closest(".field");
  if (!field || !event.target.matches(".error")) return;
  const wrong = event.target.textContent.trim() !== "";
  const control = field.querySelector("input:not([type=hidden]), select, textarea");
  field.classList.toggle("wrong", wrong);
  if (wrong) control.setAttribute("aria-invalid", "true");
  else control.removeAttribute("aria-invalid");
  const described = new Set((control.getAttribute("aria-describedby") || "").split(" ").filter(Boolean));
  if (wrong) described.add(event.target.id);
  else described.delete(event.target.id);
  control.setAttribute("aria-describedby", [...described].join(" "));
}

document.addEventListener("htmx:afterSwap", mark);
document.querySelectorAll("textarea[name=start_urls]").forEach(growWithLines);
document.querySelectorAll("details.group").forEach((group) => {
  group.addEventListener("input", () => sumUp(group));
  sumUp(group); // the browser may restore input after a reload
});

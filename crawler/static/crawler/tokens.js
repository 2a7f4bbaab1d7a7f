/* Copies the secret of a new token. The button is hidden without JavaScript. */
"use strict";

for (const button of document.querySelectorAll("[data-copies]")) {
  const field = document.getElementById(button.dataset.copies);
  const note = button.parentElement.querySelector("[data-copied]");
  button.hidden = false;
  field.addEventListener("focus", () => field.select());
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(field.value);
      note.textContent = "Copied.";
    } catch {
      field.focus(); // not permitted, or no clipboard over plain HTTP
      note.textContent = "Copy the selected text.";
    }
  });
}

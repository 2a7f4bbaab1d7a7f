/* Copies the secret of a new token. Without JavaScript it is selected and copied by hand, so the button is hidden. */
"use strict";

for (const button of document.querySelectorAll("[data-copies]")) {
  const field = document.getElementById(button.dataset.copies);
  const told = button.parentElement.querySelector("[data-copied]");
  button.hidden = false;
  field.addEventListener("focus", () => field.select());
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(field.value);
      told.textContent = "Copied.";
    } catch {
      field.focus(); // not allowed, or no clipboard over plain HTTP
      told.textContent = "Copy the selected text.";
    }
  });
}

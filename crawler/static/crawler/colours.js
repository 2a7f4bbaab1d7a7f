/* Light or dark: as the system has it, unless the reader chose. Loaded before anything is drawn, so that nothing
   flashes; the choice is kept in this browser alone. */
"use strict";

const CHOICES = { system: "as the system has them", light: "light", dark: "dark" };
const NEXT = { system: "light", light: "dark", dark: "system" };

function chosen() {
  try {
    const kept = localStorage.getItem("colours");
    return kept in NEXT ? kept : "system";
  } catch { return "system"; } // this browser keeps nothing
}

function paint(choice) {
  if (choice === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = choice;
}

function offer() {
  const button = document.getElementById("colours");
  const said = document.getElementById("colours-said");
  if (!button) return;
  const say = () => {
    said.textContent = `Colours: ${CHOICES[chosen()]}. Change to ${CHOICES[NEXT[chosen()]]}`;
    button.title = said.textContent;
  };
  button.addEventListener("click", () => {
    const choice = NEXT[chosen()];
    try { localStorage.setItem("colours", choice); } catch { /* for this page alone, then */ }
    paint(choice);
    say();
  });
  button.hidden = false;
  say();
}

paint(chosen());
document.addEventListener("DOMContentLoaded", offer);

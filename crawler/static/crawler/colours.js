/* The light or dark theme: the system's setting, unless the user has chosen one, which is stored in this browser. Loaded
   before the first paint, so that the page does not flash. */
"use strict";

const CHOICES = { system: "as the system has them", light: "light", dark: "dark" };
const NEXT = { system: "light", light: "dark", dark: "system" };

function chosen() {
  try {
    const kept = localStorage.getItem("colours");
    return kept in NEXT ? kept : "system";
  } catch { return "system"; } // no local storage
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
    try { localStorage.setItem("colours", choice); } catch { /* not stored: only for this page */ }
    paint(choice);
    say();
  });
  button.hidden = false;
  say();
}

paint(chosen());
document.addEventListener("DOMContentLoaded", offer);

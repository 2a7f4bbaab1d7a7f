/* Sets Swagger UI's class for the dark theme from the system's or the user's setting. */
"use strict";

function follow() {
  const chosen = document.documentElement.dataset.theme;
  const dark = chosen ? chosen === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.classList.toggle("dark-mode", dark);
}

follow();
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", follow);
new MutationObserver(follow).observe(document.documentElement, { attributeFilter: ["data-theme"] });

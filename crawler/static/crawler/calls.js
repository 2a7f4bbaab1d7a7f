/* Tells Swagger UI whether the page is dark, which it knows by a class and not by what the system or the reader prefers. */
"use strict";

function follow() {
  const chosen = document.documentElement.dataset.theme;
  const dark = chosen ? chosen === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.classList.toggle("dark-mode", dark);
}

follow();
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", follow);
new MutationObserver(follow).observe(document.documentElement, { attributeFilter: ["data-theme"] });

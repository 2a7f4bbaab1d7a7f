/* Tests extraction rules within the form. Without JavaScript, the button opens the result in a new tab. */
"use strict";

async function tried(button) {
  const typed = new FormData(button.form);
  typed.delete("upload"); // a list may be long, and is not needed
  const response = await fetch(button.formAction, { method: "POST", body: typed });
  if (response.redirected) return "You are logged out. Reload this page to log in again.";
  const answer = new DOMParser().parseFromString(await response.text(), "text/html");
  return answer.querySelector("[data-result]") || `The server responded with ${response.status}. Try again in a moment.`;
}

document.querySelectorAll("button[data-try]").forEach((button) => {
  const place = button.parentElement.querySelector("[data-tried]");
  button.addEventListener("click", async (event) => {
    event.preventDefault();
    if (button.getAttribute("aria-busy")) return;
    button.setAttribute("aria-busy", "true");
    place.replaceChildren("Fetching the page …");
    try {
      place.replaceChildren(await tried(button));
    } catch {
      place.replaceChildren("The server does not respond. Try again in a moment.");
    } finally {
      button.removeAttribute("aria-busy");
    }
  });
});

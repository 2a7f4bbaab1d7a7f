/* Updates a crawl's page from its JSON. Data is only set as text, never as HTML. */
"use strict";

const POLL_MS = 1000; // while the crawl runs
const HIDDEN_TAB_POLL_MS = 5000; // while the tab is hidden
const NOTICES_POLL_MS = 3000; // while only notices are pending
const PAUSE_FACTOR = 10; // a slow response is followed by a pause this many times as long, to limit the load
const MAX_POLL_MS = 4000; // longest pause after a slow response
const PARTS_MS = 3000; // shortest pause between two updates of the charts
const MAX_RETRY_MS = 30000; // longest pause while the server does not answer

function isWebAddress(text) {
  return /^https?:\/\//i.test(text || "");
}

function fill(node, row) {
  node.dataset.tone = row.tone || "";
  for (const cell of [node, ...node.querySelectorAll("[data-cell]")]) {
    if (!cell.dataset.cell) continue;
    cell.textContent = row[cell.dataset.cell] || "";
    if (cell.dataset.title) cell.title = row[cell.dataset.title] || "";
    if (cell.tagName !== "A") continue;
    if (isWebAddress(row.href)) cell.href = row.href;
    else cell.removeAttribute("href");
  }
  for (const shape of node.querySelectorAll("[data-width]")) shape.setAttribute("width", row[shape.dataset.width] || 0);
  for (const button of node.querySelectorAll("[data-value]")) button.value = row[button.dataset.value] || "";
  return node;
}

function made(list, row) {
  const template = document.getElementById(list.dataset.row);
  return fill(template.content.firstElementChild.cloneNode(true), row);
}

/* A list under the pointer or with the keyboard focus is not updated, so that a click does not miss. */
function isInUse(list) {
  return list.matches(":focus-within") || (window.matchMedia("(hover: hover)").matches && list.matches(":hover"));
}

function showList(list, rows, over) {
  const now = JSON.stringify(rows);
  if (list.shown === now || (!over && isInUse(list))) return;
  list.shown = now;
  list.replaceChildren(...rows.map((row) => made(list, row)));
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text; // so that screen readers do not repeat unchanged text
}

/* Hides or shows a node; moves the focus away from a hidden one. */
function setHidden(node, hidden) {
  const held = hidden && !node.hidden && node.contains(document.activeElement);
  node.hidden = hidden;
  if (held) document.getElementById("actions").focus();
}

function showLists(crawl, status) {
  const each = (selector, act) => crawl.querySelectorAll(selector).forEach(act);
  each("[data-list]", (node) => showList(node, status.lists[node.dataset.list], status.over));
  each("[data-when-rows]", (node) => setHidden(node, !status.lists[node.dataset.whenRows].length));
  each("[data-unless-rows]", (node) => setHidden(node, status.lists[node.dataset.unlessRows].length > 0));
}

function show(crawl, status) {
  const each = (selector, act) => crawl.querySelectorAll(selector).forEach(act);
  each("[data-text]", (node) => setText(node, status.texts[node.dataset.text]));
  showLists(crawl, status);
  each("[data-when-over]", (node) => setHidden(node, !status.over));
  each("[data-unless-over]", (node) => setHidden(node, status.over));
  each("[data-when-can]", (node) => setHidden(node, !status.can[node.dataset.whenCan]));
  each(".badge", (node) => { node.dataset.state = status.state; });
  const bar = document.getElementById("bar");
  bar.max = status.bar.max;
  bar.value = status.bar.value;
  document.title = status.title;
  crawl.dataset.state = status.state;
  refreshParts(!areChartsOf(status.state));
}

/* Whether the charts were counted in this state. If not, they are requested until they are: a response may be lost. */
function areChartsOf(state) {
  return document.querySelector(".pictures").dataset.state === state;
}

/* Has htmx reload the parts that the server renders: now and then, and at once when they are of another state. */
let partsRefreshedAt = 0;
function refreshParts(atOnce) {
  const now = performance.now();
  if (!atOnce && now - partsRefreshedAt < PARTS_MS) return;
  partsRefreshedAt = now;
  document.body.dispatchEvent(new CustomEvent("crawl-looked"));
}

async function look(crawl) {
  const response = await fetch(crawl.dataset.statusUrl, { headers: { Accept: "application/json" }, cache: "no-store" });
  if (response.redirected) return { ended: "You are logged out. Reload this page to log in again." };
  if (response.status === 404) return { ended: "This crawl is gone." };
  if (!response.ok) throw new Error(`status ${response.status}`);
  return { status: await response.json() };
}

function follow(crawl) {
  const trouble = document.getElementById("trouble");
  let wasOver = "over" in crawl.dataset;
  let ended = false;
  let failures = 0;
  let quiet = 0;
  let timer = 0;
  let shown = null; // the last status

  const again = (wait) => { clearTimeout(timer); timer = setTimeout(turn, wait); };
  const say = (text) => { trouble.hidden = !text; setText(trouble, text); };

  async function turn() {
    const began = performance.now();
    let seen;
    try {
      seen = await look(crawl);
    } catch {
      failures += 1;
      if (failures > 1) say("The server does not respond. What you see may be old; this page keeps trying.");
      return again(Math.min(POLL_MS * 2 ** failures, MAX_RETRY_MS));
    }
    failures = 0;
    say(seen.ended || "");
    ended = Boolean(seen.ended);
    if (ended) return undefined;
    shown = seen.status;
    show(crawl, shown);
    if (seen.status.over && !wasOver) announce(seen.status);
    wasOver = seen.status.over;
    if (seen.status.settled && areChartsOf(seen.status.state)) return undefined;
    quiet = wasOver ? quiet + 1 : 0;
    if (wasOver) return again(Math.min(NOTICES_POLL_MS * quiet, MAX_RETRY_MS));
    return again(Math.max(document.hidden ? HIDDEN_TAB_POLL_MS : POLL_MS, Math.min(MAX_POLL_MS, PAUSE_FACTOR * (performance.now() - began))));
  }

  /* The charts come from another request: what the status has as well is shown as of that. */
  document.body.addEventListener("htmx:afterSwap", () => { if (shown) showLists(crawl, shown); });

  /* Even a finished crawl may have been restarted from another tab. */
  document.addEventListener("visibilitychange", () => { if (!document.hidden && !ended) again(0); });
  if (!("settled" in crawl.dataset)) again(POLL_MS);
}

function announce(status) {
  if (!("Notification" in window) || Notification.permission !== "granted") return;
  try {
    const notice = new Notification(status.title, { body: status.texts.summary, tag: status.progress.id });
    notice.onclick = () => { window.focus(); notice.close(); };
  } catch { /* some phones allow notifications to service workers only; the page still shows it */ }
}

function offerNotification() {
  const button = document.getElementById("tell-me");
  const note = document.getElementById("told");
  if (!("Notification" in window)) return;
  const update = () => {
    button.hidden = Notification.permission !== "default";
    if (Notification.permission === "granted") note.textContent = "This browser will notify you when the crawl is finished.";
    if (Notification.permission === "denied") note.textContent = "This browser does not allow notifications from here.";
  };
  button.addEventListener("click", async () => { await Notification.requestPermission(); update(); });
  button.hidden = Notification.permission !== "default";
  if (Notification.permission === "granted") update();
}

/* Shows UTC times in the user's time zone. */
function localTimes(within) {
  const format = (timeStyle) => new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle });
  const [usual, exact] = [format("short"), format("medium")];
  within.querySelectorAll("time[datetime]").forEach((node) => {
    const moment = new Date(node.dateTime);
    if (Number.isNaN(moment.getTime())) return;
    node.title = node.textContent;
    node.textContent = ("exact" in node.dataset ? exact : usual).format(moment);
  });
}

/* Prevents a double submit. */
function submitOnce(form) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
    form.querySelectorAll("button").forEach((button) => button.setAttribute("aria-disabled", "true"));
  });
  window.addEventListener("pageshow", () => {
    delete form.dataset.sent;
    form.querySelectorAll("button").forEach((button) => button.removeAttribute("aria-disabled"));
  });
}

/* Closes a menu or confirmation on Escape or a click elsewhere. */
function closeEasily(question) {
  question.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !question.open) return;
    question.open = false;
    question.querySelector("summary").focus();
  });
  document.addEventListener("click", (event) => { if (!question.contains(event.target)) question.open = false; });
}

/* A swap between press and release of the pointer loses the click. So an unchanged part is not swapped, and a periodic
   update is skipped while a button in it is pressed. */
const drawn = new Map(); // id of a part -> the last response, as far as it is for this part
function partOf(response, element) {
  const select = element.closest("[hx-select]")?.getAttribute("hx-select");
  const part = select && new DOMParser().parseFromString(response, "text/html").querySelector(select);
  if (!part) return response;
  part.querySelectorAll("[name=csrfmiddlewaretoken]").forEach((token) => token.remove()); // it differs each time
  return part.outerHTML;
}
function keepStill(event) {
  const { target, serverResponse, xhr, requestConfig } = event.detail;
  if (!target.id || xhr.status !== 200 || requestConfig.verb !== "get") return;
  const isHeldDown = !requestConfig.triggeringEvent && target.matches(":active");
  const part = partOf(serverResponse, requestConfig.elt);
  if (isHeldDown || drawn.get(target.id) === part) event.detail.shouldSwap = false;
  else drawn.set(target.id, part);
}

localTimes(document);
document.addEventListener("htmx:beforeSwap", keepStill);
document.addEventListener("htmx:load", (event) => localTimes(event.target)); // a part that the server rendered again
document.querySelectorAll("form[data-once]").forEach(submitOnce);
document.querySelectorAll("details.confirm, details.menu").forEach(closeEasily);
document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" }); // on a phone
const crawl = document.getElementById("crawl");
if (crawl) {
  offerNotification();
  follow(crawl);
}

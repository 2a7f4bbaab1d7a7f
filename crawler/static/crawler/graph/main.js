/* The graph page: loads the data and connects the canvas, details, table and search. */

import { showDetails } from "./details.js";
import { radius, settle } from "./layout.js";
import { List } from "./list.js";
import { Painting } from "./painting.js";
import { onTheme, palette } from "./palette.js";
import { listen } from "./pointing.js";
import { answerNames, count, folderAddress } from "./words.js";

const root = document.getElementById("graph");
const byId = (id) => document.getElementById(id);

async function read() {
  const query = root.dataset.within ? `?within=${encodeURIComponent(root.dataset.within)}` : "";
  const response = await fetch(root.dataset.url + query, { headers: { Accept: "application/json" }, cache: "no-store" });
  if (response.redirected) throw new Error("You are logged out. Reload this page to log in again.");
  if (response.status === 404) throw new Error("This crawl is gone.");
  if (!response.ok) throw new Error("The server could not make the graph. Reload this page to try again.");
  return response.json();
}

function prepared(graph) {
  const largest = Math.max(...graph.nodes.map((node) => node.pages));
  graph.nodes.forEach((node) => { node.below = 0; });
  graph.nodes.forEach((node) => { if (node.parent !== null) graph.nodes[node.parent].below += 1; });
  graph.nodes.forEach((node) => { node.r = radius(node, largest); });
  graph.deepest = Number(root.dataset.deepest);
  graph.answerNames = answerNames();
  const rank = (node) => node.pages * 1000 + node.below * 8 + node.linked_from + (node.parent === null ? 1e9 : 0);
  graph.byRank = graph.nodes.map((node, place) => place).sort((one, other) => rank(graph.nodes[other]) - rank(graph.nodes[one]));
  return graph;
}

function fillKeys(graph) {
  const answers = {};
  const depths = {};
  for (const node of graph.nodes) {
    const depth = Math.min(node.depth, graph.deepest);
    depths[depth] = (depths[depth] || 0) + node.pages;
    for (const [answer, pages] of Object.entries(node.answers)) answers[answer] = (answers[answer] || 0) + pages;
  }
  const fill = (list, counts) => byId(`key-${list}`).querySelectorAll("li").forEach((entry) => {
    entry.hidden = !counts[entry.dataset.key];
    entry.querySelector(".count").textContent = count(counts[entry.dataset.key] || 0);
  });
  fill("answer", answers);
  fill("depth", depths);
}

function found(graph, typed) {
  const words = typed.trim().toLowerCase();
  if (!words) return null;
  const fits = (node) => node.url.toLowerCase().includes(words) || node.title.toLowerCase().includes(words);
  return new Set(graph.nodes.map((node, place) => place).filter((place) => fits(graph.nodes[place])));
}

async function begin() {
  const graph = prepared(await read());
  byId("graph-summary").textContent = graph.summary;
  if (!graph.nodes.length) { byId("nothing").hidden = false; return; }
  byId("picture").hidden = byId("list").hidden = false;
  byId("every-link").hidden = !graph.has_links;
  fillKeys(graph);

  const canvas = byId("canvas");
  const painting = new Painting(canvas, graph, palette(canvas));
  let follows = true; // the graph is fitted to the canvas until the user moves it

  const select = (place) => {
    painting.selected = place;
    showDetails(root, graph, place);
    painting.draw();
  };
  const list = new List(root, graph, (place) => {
    follows = false;
    select(place);
    painting.show(place);
    byId("details").focus({ preventScroll: true });
    byId("picture").scrollIntoView({ block: "start" });
  });
  byId("unselect").addEventListener("click", () => { select(null); canvas.focus(); });
  listen(canvas, painting, {
    touched: () => { follows = false; },
    chosen: (place) => {
      if (place !== null && graph.nodes[place].page === null) window.location.assign(folderAddress(root, graph.nodes[place]));
      else select(place);
    },
  });
  document.querySelectorAll("[name=colour]").forEach((choice) => choice.addEventListener("change", () => {
    painting.by = choice.value;
    byId("key-answer").hidden = choice.value !== "answer";
    byId("key-depth").hidden = choice.value !== "depth";
    painting.draw();
  }));
  byId("all-lines").addEventListener("change", (event) => { painting.everyLine = event.target.checked; painting.draw(); });
  byId("find").addEventListener("input", (event) => {
    painting.found = found(graph, event.target.value);
    byId("found").textContent = painting.found ? `${count(painting.found.size)} found` : "";
    list.filter(painting.found);
    painting.draw();
  });
  onTheme(() => { painting.colours = palette(canvas); painting.draw(); });
  new ResizeObserver(() => (follows ? painting.fit() : painting.draw())).observe(canvas);

  const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  await settle(graph.nodes, () => (follows ? painting.fit() : painting.draw()), still);
  root.dataset.settled = "";
}

begin().catch((error) => {
  byId("graph-summary").textContent = "";
  byId("graph-trouble").textContent = error.message;
  byId("graph-trouble").hidden = false;
});

/* The nodes as a table, for screen readers and for search by name. */

import { answerOf } from "./painting.js";
import { count, folderAddress, statusOf } from "./words.js";

const AT_FIRST = 20;
const DOWNWARDS = new Set(["pages", "linked_from", "links"]); // the largest is what one looks for

function cell(text, isNumber) {
  const made = document.createElement("td");
  if (isNumber) made.className = "number";
  made.textContent = text;
  return made;
}

export class List {
  constructor(root, graph, chosen) {
    this.root = root;
    this.graph = graph;
    this.chosen = chosen;
    this.found = null;
    this.shown = AT_FIRST;
    this.by = graph.has_counts ? "linked_from" : "pages";
    this.down = true;
    this.body = document.querySelector("#list tbody");
    this.more = document.getElementById("more");
    this.more.addEventListener("click", () => { this.shown *= 4; this.fill(); });
    document.querySelectorAll("[data-sort]").forEach((button) => button.addEventListener("click", () => this.sort(button.dataset.sort)));
    this.fill();
  }

  sort(by) {
    this.down = by === this.by ? !this.down : DOWNWARDS.has(by);
    this.by = by;
    this.fill();
  }

  /* Shows only these places; null = all. */
  filter(found) {
    this.found = found;
    this.shown = AT_FIRST;
    this.fill();
  }

  fill() {
    const { nodes } = this.graph;
    const value = (node) => (this.by === "status" ? node.status || answerOf(node) : node[this.by]);
    const order = nodes.map((node, place) => place).filter((place) => !this.found || this.found.has(place));
    order.sort((one, other) => {
      const [a, b] = [value(nodes[one]), value(nodes[other])];
      return (a < b ? -1 : a > b ? 1 : 0) * (this.down ? -1 : 1);
    });
    this.body.replaceChildren(...order.slice(0, this.shown).map((place) => this.row(place)));
    this.more.hidden = order.length <= this.shown;
    this.more.textContent = `Show more of ${count(order.length)}`;
    document.querySelectorAll("[data-sort]").forEach((button) => {
      const head = button.closest("th");
      if (button.dataset.sort === this.by) head.setAttribute("aria-sort", this.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  }

  row(place) {
    const node = this.graph.nodes[place];
    const line = document.createElement("tr");
    const name = document.createElement("td");
    if (node.page === null) {
      name.append(Object.assign(document.createElement("a"), { href: folderAddress(this.root, node), textContent: `${node.url}…` }));
    } else {
      const button = Object.assign(document.createElement("button"), { type: "button", className: "plain", textContent: node.url });
      button.addEventListener("click", () => this.chosen(place));
      name.append(button);
      if (node.title) name.append(Object.assign(document.createElement("span"), { className: "title", textContent: node.title }));
    }
    const known = (number, isKnown) => (isKnown ? count(number) : "–");
    line.append(name, cell(statusOf(node, this.graph.answerNames)));
    line.append(cell(count(node.depth), true), cell(count(node.pages), true));
    line.append(cell(known(node.linked_from, this.graph.has_counts), true), cell(known(node.links, this.graph.has_links), true));
    return line;
  }
}

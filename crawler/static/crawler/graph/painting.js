/* Draws the graph on a canvas: edges, nodes, selection, search results, and as many labels as fit. */

const FAR = 1.1; // scale from which names of single pages are written
const MOST_NAMES = 60;
const LEAST = 2; // px that a dot is wide from its middle, however far away
const TROUBLE = new Set(["client_error", "failed"]);

export function answerOf(node) {
  return Object.keys(node.answers).reduce((most, answer) => (node.answers[answer] > (node.answers[most] || 0) ? answer : most), "");
}

export class Painting {
  constructor(canvas, graph, colours) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.graph = graph;
    this.colours = colours;
    this.by = "answer";
    this.everyLine = false;
    this.selected = null; // place of a node
    this.under = null; // place of the node under the pointer
    this.found = null; // places of those that were searched for; null = no search
    this.x = 0; // what of the picture is in the canvas's middle
    this.y = 0;
    this.scale = 1;
    this.waiting = false;
  }

  /* Draws once before the next frame, however often it is asked for. */
  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.paint(); });
  }

  get size() {
    return [this.canvas.clientWidth, this.canvas.clientHeight];
  }

  fit() {
    const { nodes } = this.graph;
    const [width, height] = this.size;
    const left = Math.min(...nodes.map((node) => node.x - node.r));
    const right = Math.max(...nodes.map((node) => node.x + node.r));
    const top = Math.min(...nodes.map((node) => node.y - node.r));
    const bottom = Math.max(...nodes.map((node) => node.y + node.r));
    this.x = (left + right) / 2;
    this.y = (top + bottom) / 2;
    this.scale = Math.min(3, 0.94 * Math.min(width / (right - left + 40), height / (bottom - top + 40)));
    this.draw();
  }

  /* Zooms by `factor`, keeping this point of the canvas in place. */
  zoom(factor, at = null) {
    const [width, height] = this.size;
    const [x, y] = at || [width / 2, height / 2];
    const scale = Math.min(8, Math.max(0.03, this.scale * factor));
    this.x += (x - width / 2) * (1 / this.scale - 1 / scale);
    this.y += (y - height / 2) * (1 / this.scale - 1 / scale);
    this.scale = scale;
    this.draw();
  }

  move(x, y) {
    this.x -= x / this.scale;
    this.y -= y / this.scale;
    this.draw();
  }

  /* Brings a node into the middle, near enough to be read. */
  show(place) {
    const node = this.graph.nodes[place];
    this.x = node.x;
    this.y = node.y;
    this.scale = Math.max(this.scale, 1.2);
    this.draw();
  }

  /* The place of the node at this place of the canvas, or null. */
  at(x, y) {
    const [width, height] = this.size;
    const there = [(x - width / 2) / this.scale + this.x, (y - height / 2) / this.scale + this.y];
    const reach = 6 / this.scale;
    let nearest = null;
    let distance = Infinity;
    this.graph.nodes.forEach((node, place) => {
      const away = Math.hypot(node.x - there[0], node.y - there[1]) - node.r;
      if (away < reach && away < distance) { nearest = place; distance = away; }
    });
    return nearest;
  }

  paint() {
    const { context, canvas, colours } = this;
    const [width, height] = this.size;
    const density = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * density)) canvas.width = Math.round(width * density);
    if (canvas.height !== Math.round(height * density)) canvas.height = Math.round(height * density);
    context.setTransform(density, 0, 0, density, 0, 0);
    context.fillStyle = colours.ground;
    context.fillRect(0, 0, width, height);
    context.translate(width / 2, height / 2);
    context.scale(this.scale, this.scale);
    context.translate(-this.x, -this.y);
    this.paintLines();
    this.paintDots();
    context.globalAlpha = 1;
    this.paintNames();
  }

  stroke(lines, colour, alpha, width) {
    const { context } = this;
    context.beginPath();
    for (const [from, to] of lines) { context.moveTo(from.x, from.y); context.lineTo(to.x, to.y); }
    context.strokeStyle = colour;
    context.globalAlpha = alpha;
    context.lineWidth = (width * Math.min(1, 0.35 + this.scale / 2)) / this.scale;
    context.stroke();
  }

  paintLines() {
    const { nodes, lines } = this.graph;
    const { ink, accent } = this.colours;
    const calm = this.selected !== null || this.found !== null;
    if (this.everyLine) {
      const alpha = Math.max(0.03, Math.min(0.3, 400 / (lines.length + 1)));
      this.stroke(lines.map(([from, to]) => [nodes[from], nodes[to]]), ink, calm ? alpha / 3 : alpha, 1);
    }
    const tree = nodes.filter((node) => node.parent !== null).map((node) => [nodes[node.parent], node]);
    this.stroke(tree, ink, calm ? 0.12 : 0.28, 1);
    if (this.selected === null) return;
    const chosen = this.selected;
    const to = lines.filter((line) => line[1] === chosen).map(([from]) => [nodes[from], nodes[chosen]]);
    const from = lines.filter((line) => line[0] === chosen).map(([, target]) => [nodes[chosen], nodes[target]]);
    const fainter = (all) => Math.max(0.25, Math.min(1, 60 / all.length)); // hundreds of them would be one blot
    this.stroke(from, ink, 0.45 * fainter(from), 1);
    this.stroke(to, accent, 0.75 * fainter(to), 1.4);
  }

  neighbours() {
    if (this.selected === null) return null;
    const near = new Set([this.selected]);
    for (const [from, to] of this.graph.lines) {
      if (from === this.selected) near.add(to);
      if (to === this.selected) near.add(from);
    }
    const { parent } = this.graph.nodes[this.selected];
    if (parent !== null) near.add(parent);
    return near;
  }

  paintDots() {
    const { context, colours } = this;
    const bright = this.found || this.neighbours();
    this.graph.nodes.forEach((node, place) => {
      context.globalAlpha = bright && !bright.has(place) ? 0.22 : 1;
      if (node.page === null && this.by === "answer") this.paintShares(node);
      else this.paintDot(node, this.colourOf(node));
      const troubled = Object.keys(node.answers).some((answer) => TROUBLE.has(answer));
      if (troubled && this.by === "answer") this.ring(node, colours.ink, 1.2, 1.5);
    });
    context.globalAlpha = 1;
    if (this.selected !== null) this.ring(this.graph.nodes[this.selected], colours.accent, 2.5, 3);
    if (this.under !== null) this.ring(this.graph.nodes[this.under], colours.ink, 1.5, 2);
  }

  colourOf(node) {
    if (this.by === "depth") return this.colours.depth[Math.min(node.depth, this.graph.deepest)];
    return this.colours.answer[answerOf(node)];
  }

  paintDot(node, colour) {
    const { context } = this;
    context.beginPath();
    context.arc(node.x, node.y, Math.max(node.r, LEAST / this.scale), 0, 2 * Math.PI);
    context.fillStyle = colour;
    context.fill();
    if (node.page === null) this.hole(node);
  }

  /* A folder is a wheel: of each colour as much as there are pages. */
  paintShares(node) {
    const { context } = this;
    let from = -Math.PI / 2;
    for (const [answer, pages] of Object.entries(node.answers)) {
      const to = from + (2 * Math.PI * pages) / node.pages;
      context.beginPath();
      context.moveTo(node.x, node.y);
      context.arc(node.x, node.y, node.r, from, to);
      context.fillStyle = this.colours.answer[answer];
      context.fill();
      from = to;
    }
    this.hole(node);
  }

  hole(node) {
    const { context } = this;
    context.beginPath();
    context.arc(node.x, node.y, node.r * 0.55, 0, 2 * Math.PI);
    context.fillStyle = this.colours.ground;
    context.fill();
  }

  ring(node, colour, width, away) {
    const { context } = this;
    context.beginPath();
    context.arc(node.x, node.y, node.r + away / this.scale, 0, 2 * Math.PI);
    context.strokeStyle = colour;
    context.lineWidth = width / this.scale;
    context.stroke();
  }

  /* The most important first, each only where it covers no other. */
  paintNames() {
    const { context, colours } = this;
    const density = window.devicePixelRatio || 1;
    const [width, height] = this.size;
    context.setTransform(density, 0, 0, density, 0, 0);
    context.font = `12px ${getComputedStyle(this.canvas).fontFamily}`;
    context.textBaseline = "middle";
    context.lineJoin = "round";
    const taken = [];
    let left = MOST_NAMES;
    for (const place of this.named()) {
      if (left === 0) break;
      const node = this.graph.nodes[place];
      const middle = (node.x - this.x) * this.scale + width / 2;
      const y = (node.y - this.y) * this.scale + height / 2;
      if (middle < 0 || middle > width || y < 0 || y > height) continue;
      const text = node.name.length > 34 ? `${node.name.slice(0, 32)}…` : node.name;
      const long = context.measureText(text).width;
      const away = node.r * this.scale + 5;
      const inside = node.page === null && long < node.r * this.scale * 1.8;
      const beside = middle + away + long < width ? middle + away : middle - away - long;
      const x = inside ? middle - long / 2 : beside;
      const box = [x, y - 8, x + long, y + 8];
      const first = place === this.selected || place === this.under;
      if (!first && taken.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1])) continue;
      taken.push(box);
      left -= 1;
      context.strokeStyle = colours.ground;
      context.lineWidth = 4;
      context.strokeText(text, x, y);
      context.fillStyle = colours.ink;
      context.fillText(text, x, y);
    }
  }

  named() {
    const { nodes, byRank } = this.graph;
    const first = [this.under, this.selected].filter((place) => place !== null);
    if (this.found) return [...first, ...byRank.filter((place) => this.found.has(place))];
    const near = this.neighbours();
    if (near) return [...first, ...byRank.filter((place) => near.has(place))];
    const readable = this.scale >= FAR;
    return [...first, ...byRank.filter((place, rank) => readable || nodes[place].page === null || rank < 12)];
  }
}

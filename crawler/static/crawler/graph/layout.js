/* The layout: nodes start on rings around their parent in the discovery tree, then a force simulation moves them. */

const RING = 46; // between a page and those first found on it
const LONG_ENOUGH = 0.02; // of d3's alpha: no visible movement below it
const FRAME = 14; // ms of layout before the next picture is drawn

export function radius(node, largest) {
  if (node.page === null) return 6 + 22 * Math.sqrt(node.pages / largest);
  return 2.5 + Math.min(7, Math.log2(1 + node.below + node.linked_from / 8) * 0.9);
}

/* Children of each node; what hangs from nothing, or in a circle, is a root. */
function forest(nodes) {
  const children = nodes.map(() => []);
  nodes.forEach((node, place) => { if (node.parent !== null) children[node.parent].push(place); });
  const order = [];
  const seen = new Set();
  const walk = (root) => {
    const waiting = [root];
    seen.add(root);
    while (waiting.length) {
      const place = waiting.pop();
      order.push(place);
      for (const child of children[place]) if (!seen.has(child)) { seen.add(child); waiting.push(child); }
    }
  };
  const roots = nodes.map((node, place) => place).filter((place) => nodes[place].parent === null);
  roots.forEach(walk);
  nodes.forEach((node, place) => { if (!seen.has(place)) { roots.push(place); walk(place); } });
  return { children, roots, order };
}

function onRings(nodes) {
  const { children, roots, order } = forest(nodes);
  const leaves = nodes.map(() => 1);
  const placed = new Set();
  for (const place of [...order].reverse()) {
    const below = children[place].reduce((sum, child) => sum + leaves[child], 0);
    leaves[place] = Math.max(1, below);
  }
  const waiting = [];
  const all = roots.reduce((sum, root) => sum + leaves[root], 0);
  let from = 0;
  for (const root of roots) {
    const to = from + (2 * Math.PI * leaves[root]) / all;
    waiting.push([root, from, to, roots.length === 1 ? 0 : 1]);
    from = to;
  }
  while (waiting.length) {
    const [place, first, last, ring] = waiting.pop();
    if (placed.has(place)) continue;
    placed.add(place);
    const middle = (first + last) / 2;
    nodes[place].x = Math.cos(middle) * ring * RING * 2;
    nodes[place].y = Math.sin(middle) * ring * RING * 2;
    let at = first;
    for (const child of children[place]) {
      const width = ((last - first) * leaves[child]) / leaves[place];
      waiting.push([child, at, at + width, ring + 1]);
      at += width;
    }
  }
}

/* The more hang from a page, the farther away they must be to stand side by side. */
function reach(line) {
  return line.source.r + line.target.r + 10 + 4 * Math.sqrt(line.source.below);
}

/* What hangs from nothing would be pushed away by all the others. */
function inwards(node) {
  return node.parent === null && node.below === 0 ? 0.12 : 0.03;
}

/* Moves the dots, drawing as it goes; resolves when they stand still. With `still` it draws only then. */
export function settle(nodes, draw, still) {
  onRings(nodes);
  const tree = nodes
    .map((node, place) => ({ source: node.parent, target: place }))
    .filter((line) => line.source !== null);
  const simulation = d3.forceSimulation(nodes)
    .force("tree", d3.forceLink(tree).distance(reach).strength(0.6).iterations(2))
    .force("apart", d3.forceManyBody().strength((node) => -10 - node.r * 7).theta(1.1).distanceMax(900))
    .force("x", d3.forceX().strength(inwards))
    .force("y", d3.forceY().strength(inwards))
    .force("collide", d3.forceCollide((node) => node.r + (node.page === null ? 6 : 1.5)))
    .alphaDecay(nodes.length > 800 ? 0.03 : 0.02)
    .stop();
  return new Promise((resolve) => {
    const turn = () => {
      const began = performance.now();
      do simulation.tick(); while (simulation.alpha() > LONG_ENOUGH && performance.now() - began < FRAME);
      const done = simulation.alpha() <= LONG_ENOUGH;
      if (!still || done) draw();
      if (done) resolve();
      else requestAnimationFrame(turn);
    };
    requestAnimationFrame(turn);
  });
}

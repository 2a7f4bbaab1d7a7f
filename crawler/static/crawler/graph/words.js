/* Text about a node, for its details and its row in the table. */

const number = new Intl.NumberFormat("en");

export const count = (value) => number.format(value);

/* Names of the response classes, from the legend. */
export function answerNames() {
  const entries = [...document.querySelectorAll("#key-answer li")];
  return Object.fromEntries(entries.map((entry) => [entry.dataset.key, entry.firstElementChild.nextSibling.textContent.trim()]));
}

export function statusOf(node, names) {
  if (node.page !== null) return node.status || "open";
  const parts = Object.entries(node.answers).sort((one, other) => other[1] - one[1]);
  return parts.map(([answer, pages]) => `${names[answer]}: ${count(pages)}`).join(", ");
}

export function folderAddress(root, node) {
  return `${root.dataset.pageUrl}?within=${encodeURIComponent(node.url)}`;
}

export function isWebAddress(text) {
  return /^https?:\/\//i.test(text || "");
}

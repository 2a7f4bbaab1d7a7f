/* Details of the selected node, with links. */

import { count, folderAddress, isWebAddress, statusOf } from "./words.js";

function link(text, href) {
  return Object.assign(document.createElement("a"), { textContent: text, href });
}

/* A site that was crawled is not to learn who looked, nor to get hold of this page. */
function linkOut(url) {
  return Object.assign(link(url, url), { rel: "noopener noreferrer nofollow", target: "_blank" });
}

export function showDetails(root, graph, place) {
  const card = document.getElementById("details");
  card.hidden = place === null;
  if (place === null) return;
  const node = graph.nodes[place];
  const isPage = node.page !== null;
  card.querySelector("h3").textContent = node.title || node.name;
  const address = card.querySelector(".address");
  address.replaceChildren(isPage && isWebAddress(node.url) ? linkOut(node.url) : isPage ? node.url : `${node.url}…`);
  const facts = {
    Response: statusOf(node, graph.answerNames),
    Depth: isPage ? count(node.depth) : `${count(node.depth)} and deeper`,
    ...(isPage ? {} : { Pages: count(node.pages) }),
    ...(graph.has_counts ? { "Pages that link to it": count(node.linked_from) } : {}),
    ...(graph.has_links ? { "Pages it links to": count(node.links) } : {}),
  };
  card.querySelector("dl").replaceChildren(...Object.entries(facts).map(([name, value]) => {
    const line = document.createElement("div");
    line.append(Object.assign(document.createElement("dt"), { textContent: name }));
    line.append(Object.assign(document.createElement("dd"), { textContent: value }));
    return line;
  }));
  const more = isPage ? link("All about this page", `${graph.pages_url}${node.page}/`) : link("Open this folder", folderAddress(root, node));
  card.querySelector(".also").replaceChildren(more);
}

// As the build of a React application with a router: elements are values, and a component makes them from its props.
// What is shown in #root is made anew for each route.

const h = (type, props, ...children) => ({ type, props: props || {}, children: children.flat() });

function nodeOf(element) {
  if (typeof element === "string") return document.createTextNode(element);
  if (typeof element.type === "function") return nodeOf(element.type(element.props));
  const node = document.createElement(element.type);
  for (const [name, value] of Object.entries(element.props)) {
    if (name === "onClick") node.addEventListener("click", value);
    else node.setAttribute(name, value);
  }
  node.append(...element.children.map(nodeOf));
  return node;
}

const Link = ({ href, text }) =>
  h("a", { href, onClick: (event) => { event.preventDefault(); navigate(href); } }, text);

const Page = ({ title, text, links }) =>
  h("main", null, h("h1", null, title), h("p", null, text), h("ul", null, links.map((link) => h("li", null, h(Link, link)))));

const Spinner = () => h("div", { class: "spinner", role: "status" }, "Loading…");

const show = (element) => document.getElementById("root").replaceChildren(nodeOf(element));

async function render() {
  show(h(Spinner));
  const path = location.pathname;
  const response = await fetch(`/api${path === "/" ? "/index" : path}.json`);
  if (path !== location.pathname) return; // another route was taken meanwhile
  const page = response.ok ? await response.json() : { title: "Not found", text: "", links: [] };
  document.title = page.title;
  show(h(Page, page));
}

function navigate(href) {
  history.pushState({}, "", href);
  render();
}

addEventListener("popstate", render);
render();

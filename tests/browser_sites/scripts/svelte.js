// As the build of a SvelteKit application without server rendering: the compiler has made functions from each component
// that create its nodes, mount them and update them. There is no root with a known id.

const element = (name) => document.createElement(name);

function listItem(link) {
  const item = element("li"), anchor = element("a");
  return {
    create() { anchor.href = link.href; anchor.textContent = link.text; item.append(anchor); },
    mount(target) { target.append(item); },
    destroy() { item.remove(); },
  };
}

function pageFragment() {
  const main = element("main"), heading = element("h1"), text = element("p"), list = element("ul");
  let items = [];
  return {
    create() { main.append(heading, text, list); },
    mount(target) { target.append(main); },
    update(page) {
      heading.textContent = document.title = page.title;
      text.textContent = page.text;
      items.forEach((item) => item.destroy());
      items = page.links.map(listItem);
      items.forEach((item) => { item.create(); item.mount(list); });
    },
  };
}

const page = pageFragment();
page.create();

async function goto(path) {
  const response = await fetch(`/api${path === "/" ? "/index" : path}.json`);
  if (path !== location.pathname) return; // another route was taken meanwhile
  page.update(response.ok ? await response.json() : { title: "Not found", text: "", links: [] });
}

export async function start(target) {
  await goto(location.pathname);
  page.mount(target);
  target.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link) return;
    event.preventDefault();
    history.pushState({}, "", link.getAttribute("href"));
    goto(location.pathname);
  });
  addEventListener("popstate", () => goto(location.pathname));
}

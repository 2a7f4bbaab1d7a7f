// As the build of a Vue application: the state is reactive. Whatever is assigned to it lets the template be rendered
// again, once, after the script that assigned it.

function reactive(state, render) {
  let isQueued = false;
  return new Proxy(state, {
    set(target, name, value) {
      target[name] = value;
      if (!isQueued) {
        isQueued = true;
        queueMicrotask(() => { isQueued = false; render(target); });
      }
      return true;
    },
  });
}

const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

const template = ({ title, text, links, isLoading }) =>
  isLoading
    ? `<p class="loading">Loading</p>`
    : `<article><h1>${escaped(title)}</h1><p>${escaped(text)}</p>` +
      links.map((link) => `<div><a class="router-link" href="${escaped(link.href)}">${escaped(link.text)}</a></div>`).join("") +
      `</article>`;

const app = document.querySelector("#app");
const state = reactive({ title: "", text: "", links: [], isLoading: true }, (now) => {
  app.innerHTML = template(now);
  if (!now.isLoading) document.title = now.title;
});

async function show(path) {
  state.isLoading = true;
  const response = await fetch(`/api${path === "/" ? "/index" : path}.json`);
  if (path !== location.pathname) return; // another route was taken meanwhile
  const page = response.ok ? await response.json() : { title: "Not found", text: "", links: [] };
  Object.assign(state, page, { isLoading: false });
}

app.addEventListener("click", (event) => {
  const link = event.target.closest("a.router-link");
  if (!link) return;
  event.preventDefault();
  history.pushState({}, "", link.getAttribute("href"));
  show(location.pathname);
});
addEventListener("popstate", () => show(location.pathname));
show(location.pathname);

"""A page for each way in which scripts write links late, hide them, or lead elsewhere. Each is a shell unless the table
says otherwise."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.browser_sites.expected import BrowserSite, Rendered
from tests.browser_sites.spa import as_json
from tests.site import Answer, Reply, page

BATCHES = 5
LINKS_PER_BATCH = 10


@dataclass(frozen=True)
class Behaviour:
    path: str
    does: str
    html: str
    expected: Rendered
    data: Mapping[str, Answer] = field(default_factory=dict)  # what its script fetches
    targets: tuple[
        str, ...
    ] = ()  # pages that nothing but it leads to, and what is found of which is told by `expected`


def _shell(script: str, title: str = "") -> str:
    """A page of nothing but this script, which has `link(href)` to write a link and `write` for several."""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head><body>'
        '<div id="app"></div><script>const app = document.getElementById("app");'
        ' const link = (href) => app.insertAdjacentHTML("beforeend", `<p><a href="${href}">${href}</a></p>`);'
        f"\n{script}\n</script></body></html>"
    )


def _paths(*paths: str) -> frozenset[str]:
    return frozenset(paths)


def _batch(number: int) -> list[str]:
    return [f"/scroll/{number}-{place}" for place in range(1, LINKS_PER_BATCH + 1)]


HASH_ROUTES = Behaviour(
    "/hash/",
    "routes behind a #, which is no part of a URL: to a crawl they are one page, as it is shown without a #",
    _shell(
        """const routes = { "": ["#/about", "/hash/from-start"], "#/about": ["#/", "/hash/from-about"] };
        const show = () => { app.replaceChildren(); routes[location.hash.replace(/^#\\/$/, "")].forEach(link); };
        addEventListener("hashchange", show); show();""",
        "Hash routes",
    ),
    Rendered("Hash routes", _paths("/hash/", "/hash/from-start"), never=_paths("/hash/from-about")),
    targets=("/hash/from-start", "/hash/from-about"),
)

SCROLL = Behaviour(
    "/scroll/",
    "a list that fetches its next ten links, each 200 pixels high, when its end comes into view",
    _shell(
        f"""app.insertAdjacentHTML("afterend", '<div id="sentinel" style="height: 1px"></div>');
        const sentinel = document.getElementById("sentinel"); let fetched = 0;
        const observer = new IntersectionObserver(async ([seen]) => {{
          if (!seen.isIntersecting || fetched === {BATCHES}) return;
          fetched += 1;
          (await (await fetch(`/api/scroll/${{fetched}}.json`)).json()).forEach(link);
          app.querySelectorAll("p").forEach((row) => {{ row.style.height = "200px"; }});
          observer.unobserve(sentinel); observer.observe(sentinel); // tells again whether it is in view
        }});
        observer.observe(sentinel);""",
        "Infinite scroll",
    ),
    Rendered(
        "Infinite scroll",
        frozenset(_batch(1)),
        by_scrolling=frozenset(path for number in range(2, BATCHES + 1) for path in _batch(number)),
    ),
    data={f"/api/scroll/{number}.json": as_json(_batch(number)) for number in range(1, BATCHES + 1)},
    targets=tuple(path for number in range(1, BATCHES + 1) for path in _batch(number)),
)

LAZY = Behaviour(
    "/lazy/",
    "one link after 300 ms, and one when data has come that takes the server 500 ms; then the title changes",
    _shell(
        """setTimeout(() => link("/lazy/after-300-ms"), 300);
        fetch("/api/lazy.json").then((response) => response.json()).then((href) => {
          link(href); document.title = "Lazy links"; });""",
        "Loading",
    ),
    Rendered("Lazy links", _paths("/lazy/after-300-ms", "/lazy/after-a-fetch")),
    data={"/api/lazy.json": as_json("/lazy/after-a-fetch", after=0.5)},
    targets=("/lazy/after-300-ms", "/lazy/after-a-fetch"),
)

PUSHED = Behaviour(
    "/pushed/",
    "history.pushState and replaceState to addresses that are in no link, one of them with a #",
    _shell(
        """history.pushState({}, "", "/pushed/state"); history.replaceState({}, "", "/pushed/replaced#part");
        link("/pushed/linked");""",
        "Pushed",
    ),
    Rendered("Pushed", _paths("/pushed/linked"), pushed=_paths("/pushed/state", "/pushed/replaced")),
    targets=("/pushed/state", "/pushed/replaced", "/pushed/linked"),
)

SCRIPT_REDIRECT = Behaviour(
    "/moved-by-script/",
    "location.replace before anything is written",
    _shell('location.replace("/moved-by-script/to");'),
    Rendered("", redirect_to="/moved-by-script/to"),
    targets=("/moved-by-script/to",),
)

LATE_REDIRECT = Behaviour(
    "/moved-late/",
    "writes a link, and goes elsewhere 200 ms later: a redirect, whose links no crawl follows",
    _shell('link("/moved-late/linked"); setTimeout(() => { location.href = "/moved-late/to"; }, 200);', "Late"),
    Rendered("Late", _paths("/moved-late/linked"), redirect_to="/moved-late/to"),
    targets=("/moved-late/linked", "/moved-late/to"),
)

META_REFRESH = Behaviour(
    "/moved-by-meta/",
    "a meta refresh written by the server, which is a link to the parser: no browser is needed",
    '<!doctype html><title>Moved</title><meta http-equiv="refresh" content="0; url=/moved-by-meta/to">'
    '<script>document.documentElement.className = "js"</script>',
    Rendered("Moved", _paths("/moved-by-meta/to"), redirect_to="/moved-by-meta/to", is_shell=False),
    targets=("/moved-by-meta/to",),
)

DIALOGS = Behaviour(
    "/dialogs/",
    "alert, confirm and prompt before its link is written, and one that wants to keep visitors from leaving",
    _shell(
        """addEventListener("beforeunload", (event) => event.preventDefault());
        alert("Welcome"); confirm("Are you sure?"); prompt("Your name?"); link("/dialogs/behind");""",
        "Dialogs",
    ),
    Rendered("Dialogs", _paths("/dialogs/behind")),
    targets=("/dialogs/behind",),
)

CONSENT = Behaviour(
    "/consent/",
    "a consent banner that covers the page and stops it from scrolling; its links are in the DOM behind it",
    _shell(
        """link("/consent/behind"); document.body.style.overflow = "hidden";
        document.body.insertAdjacentHTML("beforeend", `<div role="dialog" style="position: fixed; inset: 0;
          background: white">We value your privacy. <button>Accept all</button>
          <a href="/consent/policy">Policy</a></div>`);
        document.querySelector("button").onclick = () => { document.querySelector("[role=dialog]").remove();
          link("/consent/accepted"); };""",
        "Consent",
    ),
    Rendered("Consent", _paths("/consent/behind", "/consent/policy"), never=_paths("/consent/accepted")),
    targets=("/consent/behind", "/consent/policy", "/consent/accepted"),
)

BUTTONS = Behaviour(
    "/buttons/",
    "a button whose script goes elsewhere, and a link without an address",
    _shell(
        """app.innerHTML = `<button onclick="location.href = '/buttons/pressed'">Go</button><a role="link">Here</a>`;
        app.querySelector("a").onclick = () => { location.href = "/buttons/clicked"; }; link("/buttons/linked");""",
        "Buttons",
    ),
    Rendered("Buttons", _paths("/buttons/linked"), never=_paths("/buttons/pressed", "/buttons/clicked")),
    targets=("/buttons/linked", "/buttons/pressed", "/buttons/clicked"),
)

SHADOW = Behaviour(
    "/shadow/",
    "a web component: what is in its open shadow root is not in the serialised DOM, what is put in its slot is",
    _shell(
        """customElements.define("shop-card", class extends HTMLElement { constructor() { super();
          this.attachShadow({ mode: "open" }).innerHTML = `<a href="/shadow/inside">Inside</a><slot></slot>`; } });
        app.innerHTML = `<shop-card><a href="/shadow/slotted">Slotted</a></shop-card>`;""",
        "Shadow",
    ),
    Rendered("Shadow", _paths("/shadow/slotted"), never=_paths("/shadow/inside")),
    targets=("/shadow/slotted", "/shadow/inside"),
)

FRAME = Behaviour(
    "/frame/",
    "a frame written by a script: what it shows is a page of its own",
    _shell('app.innerHTML = `<iframe src="/frame/inner"></iframe>`;', "Frame"),
    Rendered("Frame", _paths("/frame/inner")),
    targets=("/frame/inner",),
)

BEHAVIOURS = (
    HASH_ROUTES,
    SCROLL,
    LAZY,
    PUSHED,
    SCRIPT_REDIRECT,
    LATE_REDIRECT,
    META_REFRESH,
    DIALOGS,
    CONSENT,
    BUTTONS,
    SHADOW,
    FRAME,
)


def behaviours() -> BrowserSite:
    """All of them, behind a page written by the server."""
    paths = [behaviour.path for behaviour in BEHAVIOURS]
    pages: dict[str, Answer] = {"/": page(*paths, title="Behaviours")}
    expected = {"/": Rendered("Behaviours", frozenset(paths), is_shell=False)}
    for behaviour in BEHAVIOURS:
        pages |= {behaviour.path: behaviour.html, **behaviour.data}
        pages |= {target: Reply(page(title=target)) for target in behaviour.targets}
        expected[behaviour.path] = behaviour.expected
    return BrowserSite(pages, expected)

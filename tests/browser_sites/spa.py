"""Single-page applications: the server answers each route with the same shell, and scripts fetch what it shows."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.browser_sites.expected import BrowserSite, Rendered
from tests.site import Answer, Reply

SCRIPTS = Path(__file__).parent / "scripts"
ITEMS_PER_LIST = 10
GONE = "/item/gone"  # the home page links to it, and the server answers 404

SHELLS = {
    "react": (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"/><title>Shop</title>'
        '<script defer="defer" src="/static/react.js"></script></head><body>'
        '<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div></body></html>'
    ),
    "vue": (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title>'
        '<script type="module" crossorigin src="/static/vue.js"></script></head>'
        '<body><div id="app"></div></body></html>'
    ),
    "svelte": (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title></head>'
        '<body data-sveltekit-preload-data="hover"><div style="display: contents"><script>'
        "{ const target = document.currentScript.parentElement;"
        ' import("/static/svelte.js").then((kit) => kit.start(target)); }'
        "</script></div></body></html>"
    ),
}
"""Framework -> what its tools write into index.html. Its script has the same name."""


def spa(pages: int = 200, framework: str = "react") -> BrowserSite:
    """A shop of so many pages: home, about, lists of ten items with a link to the next list, and items.

    All routes answer 200 with the shell, whose title is "Shop". Titles, texts and links are in /api/ROUTE.json. Each
    item links to its list and to the next item, so that each page can be reached from each.
    """
    items = (pages - 2) * ITEMS_PER_LIST // (ITEMS_PER_LIST + 1)
    lists = pages - 2 - items
    expected = {
        "/": rendered("Home", "/list/1", "/about", GONE),
        "/about": rendered("About us", "/"),
    }
    for number in range(1, lists + 1):
        first = (number - 1) * ITEMS_PER_LIST + 1
        on_it = [f"/item/{item}" for item in range(first, min(first + ITEMS_PER_LIST, items + 1))]
        following = [f"/list/{number + 1}"] if number < lists else []
        expected[f"/list/{number}"] = rendered(f"List {number}", "/", *on_it, *following)
    for number in range(1, items + 1):
        its_list = f"/list/{(number - 1) // ITEMS_PER_LIST + 1}"
        expected[f"/item/{number}"] = rendered(f"Item {number}", its_list, f"/item/{number % items + 1}")
    return BrowserSite({**script(framework), **routes(expected, framework)}, expected)


def rendered(title: str, *links: str) -> Rendered:
    return Rendered(f"{title} · Shop", frozenset(links))


def script(framework: str) -> Mapping[str, Answer]:
    body = (SCRIPTS / f"{framework}.js").read_text()
    return {f"/static/{framework}.js": Reply(body, headers={"Content-Type": "text/javascript; charset=utf-8"})}


def routes(expected: Mapping[str, Rendered], framework: str) -> Mapping[str, Answer]:
    """The shell of each of these pages, and its data."""
    shells = dict.fromkeys(expected, SHELLS[framework])
    return {**shells, **{data_path(path): data(page.title, sorted(page.links)) for path, page in expected.items()}}


def data_path(path: str) -> str:
    return f"/api{'/index' if path == '/' else path}.json"


def data(title: str, links: Sequence[str]) -> Reply:
    """What the scripts fetch for a page."""
    page = {
        "title": title,
        "text": f"This is the page “{title}”, as a script has written it.",
        "links": [{"href": link, "text": f"To {link}"} for link in links],
    }
    return as_json(page)


def as_json(value: object, after: float = 0.0) -> Reply:
    return Reply(json.dumps(value), headers={"Content-Type": "application/json"}, after=after)

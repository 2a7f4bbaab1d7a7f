"""Pages that never come to an end. The page that each links to is to be found all the same, unless its process ends."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.browser_sites.expected import BrowserSite, Ending, Rendered
from tests.browser_sites.spa import as_json
from tests.site import Answer, Reply, page


@dataclass(frozen=True)
class Endless:
    path: str
    does: str
    script: str
    ending: Ending
    data: Mapping[str, Answer] = field(default_factory=dict)

    @property
    def found(self) -> str:
        """The page that it links to before the trouble begins. A page whose process ends has no links."""
        return f"{self.path}found"


MEMORY = Endless(
    "/memory/",
    "keeps 8 MB more every 5 ms, to 4 GB at most, and polls meanwhile: the process of the page ends if it may not"
    " have so much",
    """const kept = []; const more = () => { fetch("/api/poll.json"); kept.push(Array(1e6).fill(0.5));
    if (kept.length < 500) setTimeout(more, 5); }; more();""",
    Ending.CRASH,
    data={"/api/poll.json": as_json([])},
)

ENDLESS = (
    Endless(
        "/busy/",
        "a script that never returns: neither its DOM nor its title can be read any more",
        "while (true) {}",
        Ending.BLOCKED,
    ),
    Endless(
        "/busy-later/",
        "the same half a second after the page was loaded, while a browser waits for the network to be quiet",
        'addEventListener("load", () => setTimeout(() => { while (true) {} }, 300));',
        Ending.BLOCKED,
    ),
    MEMORY,
    Endless(
        "/never-quiet/",
        "polls every 50 ms, and opens a WebSocket and an EventSource again as soon as they are closed",
        """setInterval(() => fetch("/api/poll.json"), 50);
        new EventSource("/api/events");
        const again = () => setTimeout(connect, 50);
        const connect = () => { new WebSocket(`ws://${location.host}/socket`).onclose = again; };
        connect();""",
        Ending.TIME_LIMIT,
        data={
            "/api/poll.json": as_json([]),
            "/api/events": Reply("retry: 50\ndata: x\n\n", headers={"Content-Type": "text/event-stream"}),
        },
    ),
    Endless(
        "/grows/",
        "adds ten links every 10 ms, and fetches data in between",
        """let number = 0; setInterval(() => { fetch("/api/poll.json");
        for (let more = 0; more < 10; more += 1) link(`/grows/${number += 1}`); }, 10);""",
        Ending.TIME_LIMIT,
        data={"/api/poll.json": as_json([])},
    ),
    Endless(
        "/windows/",
        "opens a window every 100 ms, and has a dialog in between",
        """setInterval(() => { open("/windows/opened"); alert("Look"); fetch("/api/poll.json"); }, 100);""",
        Ending.TIME_LIMIT,
        data={"/api/poll.json": as_json([]), "/windows/opened": page(title="Opened")},
    ),
)


def endless() -> BrowserSite:
    """All of them, behind a page written by the server. A page has at least the links that are expected."""
    paths = [one.path for one in ENDLESS]
    pages: dict[str, Answer] = {"/": page(*paths, title="Endless")}
    expected = {"/": Rendered("Endless", frozenset(paths), is_shell=False)}
    for one in ENDLESS:
        pages |= {one.path: _html_of(one), one.found: page(title="Found"), **one.data}
        found, none = frozenset({one.found}), frozenset[str]()
        links, never = (none, found) if one.ending is Ending.CRASH else (found, none)
        expected[one.path] = Rendered(one.path, links, never=never, ending=one.ending)
    return BrowserSite(pages, expected)


def _html_of(one: Endless) -> str:
    """Where the DOM cannot be read any more, only what the server wrote can be found; elsewhere a script writes it."""
    by_server = one.ending is Ending.BLOCKED
    anchor = f'<a href="{one.found}">Found</a>'
    written = "" if by_server else f'link("{one.found}");'
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{one.path}</title></head><body>'
        f'{anchor if by_server else ""}<div id="app"></div><script>'
        'const link = (href) => document.getElementById("app").insertAdjacentHTML("beforeend",'
        f' `<a href="${{href}}">${{href}}</a>`);\n{written}\n{one.script}\n</script></body></html>'
    )

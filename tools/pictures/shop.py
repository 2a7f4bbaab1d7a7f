"""A made-up shop with something of every fault a report can tell of, as it was and as it is later."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.site import Answer, Reply, Site, moved

WORDS = ("steel", "copper", "handle", "kettle", "water", "boil", "litre", "cup", "tea", "leaf", "lid", "spout", "rinse")
KINDS = ("kettles", "teapots", "cups", "filters", "scales")
EACH = 12  # of a kind


def text(seed: str, words: int = 120) -> str:
    chosen = random.Random(seed).choices(WORDS, k=words)
    return " ".join(chosen).capitalize() + "."


def style(title: str) -> str:
    """In the colour of its kind, for screenshots."""
    hue = random.Random(title.partition(" ")[0].rstrip("s")).randrange(360)
    return (
        "<style>body { font: 2rem/1.6 Georgia, serif; max-width: 60rem; margin: auto; color: #223 } "
        f"h1 {{ font-size: 5.5rem; line-height: 1.1; padding: 16rem 3rem 3rem; margin: 0; color: #fff }} "
        f"h1 {{ background: hsl({hue} 45% 38%) }} "
        f"ul {{ columns: 4; list-style: none; padding: 1rem; background: hsl({hue} 45% 94%) }}</style>"
    )


def page(title: str, *links: str, body: str = "", head: str = "", description: str = "") -> str:
    said = f'<meta name="description" content="{description}">' if description else ""
    anchors = "".join(f'<li><a href="{link}">{link.rstrip("/").rsplit("/", 1)[-1]}</a></li>' for link in links)
    shown = body or f"<p>{text(title)}</p>"
    return (
        f"<!doctype html><html lang=en><head><title>{title}</title>{said}{head}{style(title)}</head>"
        f"<body><h1>{title}</h1>{shown}<ul>{anchors}</ul></body></html>"
    )


def shop() -> Site:
    """As it is at first; `later` makes it what it is the next time."""
    made = Site({})
    sitemap = "".join(f"<url><loc>{made.url}{path}</loc></url>" for path in ("/", "/sale/2024", "/sale/2025"))
    made.pages = {**dict(_goods()), **dict(_faults()), "/sitemap.xml": _xml(f"<urlset>{sitemap}</urlset>")}
    return made


def later(site: Site) -> None:
    """Some is new, some gone, some changed."""
    site.pages |= {
        "/kettles/": page("Kettles", *(f"/kettles/{number}" for number in range(2, EACH + 3)), "/gone"),
        f"/kettles/{EACH + 1}": page("Kettle 13, new this spring"),
        f"/kettles/{EACH + 2}": page("Kettle 14, new this spring"),
        "/cups/3": page("Cup 3, now in blue"),
        "/cups/4": page("Cup 4", body=f"<p>{text('another text')}</p>"),
        "/teapots/5": Reply("gone", status=410),
        "/busy": page("Opening hours"),
    }


def _goods() -> Iterator[tuple[str, Answer]]:
    faults = ("/about", "/busy", "/slow", "/old", "/round", "/gone", "/docs/", "/print/1", "/print/2", "/basket")
    yield "/", page("The kettle shop", *(f"/{kind}/" for kind in KINDS), *faults, description="Kettles and more")
    for kind in KINDS:
        yield f"/{kind}/", page(kind.capitalize(), *(f"/{kind}/{number}" for number in range(1, EACH + 1)), "/gone")
        for number in range(1, EACH + 1):
            name = f"{kind.capitalize().rstrip('s')} {number}"
            yield f"/{kind}/{number}", page(name, "/", f"/{kind}/", "/about", description=text(name, 12))


def _faults() -> Iterator[tuple[str, Answer]]:
    yield "/robots.txt", Reply("User-agent: *\nDisallow: /basket\n", headers={"Content-Type": "text/plain"})
    yield "/about", page("About us", "/missing", "/imprint", "http://nowhere.invalid/partner")
    yield "/imprint", page("About us", head='<meta name="robots" content="noindex">')
    yield "/busy", Reply("busy", status=503)
    yield "/slow", Reply(page("A page that takes its time"), after=1.5)
    yield "/old", moved("/older", 301)
    yield "/older", moved("/oldest")
    yield "/oldest", moved("/about", 301)
    yield "/round", moved("/and-round")
    yield "/and-round", moved("/round")
    for number in (1, 2):
        words = text("the same for both", 200)
        yield f"/print/{number}", page("To print", body=f"<p>{words} Copy {number}.</p>", head=_canonical("/gone"))
    for depth in range(1, 12):
        yield f"/{'docs/' * depth}", page(f"Manual {depth}", "docs/")
    for year in (2024, 2025):
        yield f"/sale/{year}", page(f"Sale of {year}", "/")


def _canonical(path: str) -> str:
    return f'<link rel="canonical" href="{path}">'


def _xml(body: str) -> Reply:
    return Reply(f'<?xml version="1.0"?>{body}', headers={"Content-Type": "application/xml"})

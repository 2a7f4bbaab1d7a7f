"""A site of pages written by the server and of shells, as `auto` is for: each kind leads to pages that nothing else
links to."""

from tests.browser_sites.expected import BrowserSite, Rendered
from tests.browser_sites.spa import routes, script

GUIDES = 20
SHELLS = 5
WORDS = "The server has written these words, so that they can be read in any program that shows HTML. " * 5


def mixed(guides: int = GUIDES, shells: int = SHELLS) -> BrowserSite:
    """The home page links to guides, which are written by the server, and to parts of an application, which are shells;
    each of these links to one guide more, which is known to no other page.

    A crawl without a browser finds 1 + `guides` + `shells` pages; one that renders the shells finds `shells` guides
    more.
    Guides have scripts, too, but these only count visits or open the menu.
    """
    hidden = [f"/guide/from-app-{number}" for number in range(1, shells + 1)]
    parts = {
        f"/app/{number}": Rendered(f"Part {number} · Application", frozenset({"/", guide}))
        for number, guide in enumerate(hidden, 1)
    }
    known = [f"/guide/{number}" for number in range(1, guides + 1)]
    written = {"/": _written("Home", *known, *parts)}
    for guide in (*known, *hidden):
        written[guide] = _written(f"Guide {guide.rpartition('/')[2]}", "/", "/guide/1", "/guide/2", "/guide/3")
    pages = {path: _html_of(page) for path, page in written.items()}
    return BrowserSite({**pages, **script("react"), **routes(parts, "react")}, {**written, **parts})


def _written(title: str, *links: str) -> Rendered:
    return Rendered(title, frozenset(links), is_shell=False)


def _html_of(page: Rendered) -> str:
    links = "".join(f'<li><a href="{link}">{link}</a></li>' for link in sorted(page.links))
    return (
        f'<!doctype html><html lang="en"><head><title>{page.title}</title><script>window.visits = []</script></head>'
        f'<body><noscript>Some parts of this site need JavaScript.</noscript><nav><ul>{links}</ul></nav><div id="root">'
        f"</div><h1>{page.title}</h1><p>{WORDS}</p>"
        "<script>document.querySelector('nav').onclick = () => window.visits.push(1)</script></body></html>"
    )

"""The site of `bin/chaos --render`: an application whose every page is a shell, and which tries to reach a private
address from each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from urllib.parse import urlsplit

from tests.browser_sites.expected import BrowserSite
from tests.browser_sites.spa import GONE, data_path
from tests.site import Reply
from tools.chaos.expected import Expected
from tools.chaos.site import Content, Site

SITE_ADDRESS, CANARY_ADDRESS = "127.0.0.1", "127.0.0.2"
"""The crawl may reach the first; the second is as private, and is not allowed."""

REASON = "noscript"  # why each page is rendered


def shop(known: BrowserSite, canary: str) -> Content:
    """`canary`: "host:port" that the scripts of each page ask for something."""
    knock = f'<script>fetch("http://{canary}/").catch(() => 0); new Image().src = "http://{canary}/i"</script></head>'

    def content(path: str, before: int) -> Reply:
        answer = known.pages.get(path, Reply("not here", status=404))
        if isinstance(answer, str):
            return Reply(answer.replace("</head>", knock))
        return answer if isinstance(answer, Reply) else answer(before)

    return content


def expected_of(known: BrowserSite, site: Site) -> Expected:
    """Each page has what only its scripts write; one link of the home page leads to no page."""
    paths, (script,) = list(known.expected), [path for path in known.pages if path.startswith("/static/")]
    hits = Counter({"/robots.txt": 1, GONE: 1, script: len(paths)})
    hits.update(2 * paths)  # the shell is asked for once to know that it is one, and once more for the browser
    hits.update(data_path(path) for path in paths)
    return Expected(
        pages={**{site.origin + path: ("2xx", 200) for path in paths}, site.origin + GONE: ("4xx", 404)},
        hits=hits,
        receipt={
            "discovered": len(paths) + 1,
            "fetched": len(paths) + 1,
            "failed": 0,
            "skipped": {},
            "cancelled": 0,
            "statuses": {"200": len(paths), "404": 1},
            "rendered": {REASON: len(paths)},
        },
        shown={site.origin + path: (REASON, page.title) for path, page in known.expected.items()},
    )


def times_rendered(hits: Mapping[str, int], shown: Mapping[str, object]) -> Mapping[str, int]:
    """Path of a page -> how often its scripts fetched what they show."""
    return {path: hits.get(data_path(path), 0) for path in (urlsplit(url).path for url in shown)}

"""Real workers come out of a trap by themselves, with every honest page of the site fetched."""

from html import escape
from urllib.parse import urlsplit

from crawler.core.protocol.counters import adds_up
from tests.capabilities.traps import sites
from tests.site import Reply, Request, Site
from tests.stack import Stack

HONEST = {f"/about/{number}" for number in range(sites.HONEST_PAGES)}


class MadeUp(Site):
    """A site whose pages are made when they are requested."""

    def __init__(self, shown: sites.Site) -> None:
        super().__init__({})
        self._shown = shown

    def answer(self, request: Request) -> Reply:
        super().answer(request)
        lines, links, objects = self._shown(request.path)
        text = "".join(f"<p>{escape(line)}</p>" for line in lines)
        anchors = "".join(f'<a href="{escape(link)}">more</a>' for link in links)
        return Reply(f"<title>Shop</title>{text}{anchors}" + "".join(f'<img src="{each}">' for each in objects))


def test_a_trap_ends_and_no_honest_page_is_lost(stack: Stack) -> None:
    with MadeUp(sites.TRAPS["tree"]).serving() as site:
        for _ in range(2):
            stack.start_worker()
        crawl = stack.start(f"{site.url}/", obey_robots=False)
        receipt = stack.wait_until_finished(crawl)

    assert set(site.hits) >= {"/", *HONEST}
    assert any(path.startswith("/tree/") for path in site.hits)
    assert max(site.hits.values()) == 1
    assert adds_up(receipt)
    assert stack.rows("SELECT what FROM crawler_disagreement") == []

    traps = stack.rows("SELECT * FROM crawler_trap WHERE quarantined > 0")
    assert sum(trap["quarantined"] for trap in traps) == receipt["skipped"]["trap"]
    kept_out = {urlsplit(url).path for url, row in stack.pages(crawl).items() if row["outcome"] == "trap"}
    assert kept_out.isdisjoint(HONEST)

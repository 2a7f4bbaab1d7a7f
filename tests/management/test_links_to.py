"""`manage.py links-to` lists the pages that link to a page."""

import json

import pytest

from crawler.core.protocol.completion import State
from crawler.models import PageLinks
from tests.bench import Bench
from tests.management.calls import exit_code
from tests.site import page

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("real_redis")]

PAGES = {
    "/": page("/a?utm_source=here", "/broken"),
    "/a": '<a href="/broken"><img alt="A picture"></a><a href="/broken">again</a><a href="/" rel="ugc">Up</a>',
}


@pytest.mark.site(PAGES)
def test_it_tells_pages_and_words(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    crawl = bench.run()
    assert bench.state() == State.FINISHED
    site = bench.site.url
    assert exit_code("links_to", str(crawl.id), f"{site}/broken", "--json") == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert told[1] == {"page": f"{site}/a", "text": "A picture", "rel": ""}
    assert told[2] == {"page": f"{site}/a", "text": "again", "rel": ""}
    assert [link["page"] for link in told] == [f"{site}/", f"{site}/a", f"{site}/a"]
    assert exit_code("links_to", str(crawl.id), f"{site}/") == 0
    assert capsys.readouterr().out == f'{site}/a  "Up"  [ugc]\n'
    assert exit_code("links_to", str(crawl.id), f"{site}/a") == 0, "the link is told by the page it leads to here"
    assert capsys.readouterr().out.startswith(f"{site}/")
    assert exit_code("links_to", str(crawl.id), f"{site}/nowhere") == 2
    assert "has no page" in capsys.readouterr().err
    crawl.delete()
    assert not PageLinks.objects.exists()

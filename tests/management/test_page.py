"""`manage.py page` prints the data of one page."""

import json

import pytest

from tests.bench import Bench
from tests.management.calls import exit_code
from tests.site import page

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("real_redis")]

PAGES = {"/": page("/a", "/broken", title="Start \x1b[2J"), "/a": page("/", title="Chapter A")}


@pytest.mark.site(PAGES)
def test_it_tells_what_is_known(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    crawl = bench.run()
    site = bench.site.url
    assert exit_code("page", str(crawl.id), f"{site}/") == 0
    told = capsys.readouterr().out
    for line in (
        "  Status ",
        "  Depth ",
        "Links to it",
        "Headers",
        "  Content-Type: text/html",
        f"  404  {site}/broken",
    ):
        assert line in told
    assert "\x1b" not in told, "what a stranger wrote moves no cursor"
    assert exit_code("page", str(crawl.id), f"{site}/a", "--json", "--links", "1") == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["said"]["title"], report["http_status"], report["depth"]) == ("Chapter A", 200, 1)
    assert [step["url"] for step in report["path"]["steps"]] == [f"{site}/"]
    assert exit_code("page", str(crawl.id), f"{site}/nowhere") == 2
    assert "has no page" in capsys.readouterr().err
    assert exit_code("page", str(crawl.id), f"{site}/", "--links", "-1") == 2

"""`manage.py release-trap` lists the traps of a crawl and releases the named ones."""

import json

import pytest

from crawler.core.protocol.completion import State
from crawler.models import Crawl, Page, Trap
from tests.factories import make_crawl, make_page
from tests.management.calls import exit_code

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("real_redis")]


@pytest.fixture
def crawl() -> Crawl:
    """Finished, with two traps of one page each."""
    made = make_crawl(state=State.FINISHED, discovered=2, outcomes={"trap": 2})
    for name, reason in (("docs", "repeated"), ("calendar", "dates")):
        trap = Trap.objects.create(
            crawl=made, key=name.encode().ljust(16), reason=reason, pattern=f"site.test/{name}", quarantined=1
        )
        make_page(made, f"http://site.test/{name}/x", status=Page.CLOSED, outcome="trap", trap_id=trap.pk)
    return made


def released() -> list[str]:
    return list(Trap.objects.filter(released=True).values_list("pattern", flat=True))


def test_without_a_pattern_it_lists_them(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("release_trap", str(crawl.id)) == 0
    head, docs, _ = capsys.readouterr().out.splitlines()
    assert head.split() == ["TRAP", "WHY", "EXCLUDED", "PATTERN"]
    assert docs.endswith("Paths that repeat themselves  1 page    site.test/docs")
    assert released() == []


def test_for_programs_they_come_with_examples(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("release_trap", str(crawl.id), "--json") == 0
    first = json.loads(capsys.readouterr().out.splitlines()[0])
    assert (first["pattern"], first["examples"]) == ("site.test/docs", ["http://site.test/docs/x"])


def test_one_is_released_by_its_pattern(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("release_trap", str(crawl.id), "site.test/docs") == 0
    assert "Released: 1 trap with 1 page" in capsys.readouterr().out
    assert released() == ["site.test/docs"]
    assert Crawl.objects.get().state == State.RUNNING


def test_all_of_them_are_released(crawl: Crawl) -> None:
    assert exit_code("release_trap", str(crawl.id), "--all") == 0
    assert len(released()) == 2


def test_a_trap_that_is_not_there_is_bad_usage(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("release_trap", str(crawl.id), "site.test/other") == 2
    assert "no trap 'site.test/other'" in capsys.readouterr().err
    assert released() == []


def test_of_a_crawl_without_traps_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("release_trap", str(make_crawl().id)) == 0
    assert "There are no traps." in capsys.readouterr().err

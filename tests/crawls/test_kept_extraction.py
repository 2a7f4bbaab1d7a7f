"""Fields are extracted again from kept HTML: by new rules and hooks, without a request, whatever dies in between."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from crawler.core.errors import BadInput
from crawler.core.extraction.rules import FieldRule
from crawler.core.html.page_metadata import PageMetadata
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import PageResult
from crawler.crawls import kept_extraction
from crawler.crawls.reconcile import scan
from crawler.exports.rows import columns_of, rows
from crawler.fetcher.xpath.evaluator import evaluate
from crawler.frontier.keys import EXTRACTIONS_SEEN
from crawler.hooks import Found, PageSeen, Response
from crawler.models import Crawl, HookCalls, KeptExtraction, PageFacts
from crawler.queueing import queues
from crawler.storage import fields
from tests.bench import Bench, Died
from tests.capabilities.hooks.samples import name_of
from tests.content_storages import kept_in
from tests.management.calls import exit_code
from tests.site import Reply, page

HEADING, PRICE = FieldRule(name="heading", selector="h1"), FieldRule(name="price", selector="b", type="number")
BY_XPATH = FieldRule(name="by_xpath", xpath="//h1/text()")
PAGES = {
    "/": page("/kettle", "/pot", "/text", "/gone"),
    "/kettle": "<h1>A kettle</h1><b>12,50</b>",
    "/pot": "<h1>Ein Töpfchen</h1>",
    "/text": Reply("plain", headers={"Content-Type": "text/plain"}),
}
pytestmark = pytest.mark.site(PAGES)


class Measuring:
    """Also says whether the page was kept."""

    def on_page(self, page: PageSeen, response: Response) -> Found:
        return Found({"letters": len(response.text), "kept": response.kept, "title": page.title}, ["/never-asked"])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any) -> Path:
    kept_in(tmp_path / "content", settings)
    return tmp_path


@pytest.fixture
def kept(bench: Bench) -> Bench:
    """A crawl that is over and kept HTML, with one rule."""
    bench.run(keep=("html",), fields=(HEADING,))
    assert bench.state() == "finished"
    bench.site.requests.clear()
    return bench


def extracted(bench: Bench) -> dict[str, Any]:
    """Path -> fields."""
    found = PageFacts.objects.filter(crawl=bench.crawl).select_related("page")
    return {facts.page.url.removeprefix(bench.site.url): facts.fields for facts in found}


def test_new_rules_are_applied_without_asking_the_site(kept: Bench) -> None:
    kept_extraction.start(kept.crawl, (HEADING, PRICE, BY_XPATH))
    assert kept_extraction.work(kept.crawl.id, evaluate)
    found = extracted(kept)
    assert found["/kettle"] == {"heading": "A kettle", "price": 12.5, "by_xpath": "A kettle"}
    assert found["/pot"] == {"heading": "Ein Töpfchen", "price": None, "by_xpath": "Ein Töpfchen"}
    assert not kept.site.hits
    kept.crawl.refresh_from_db()
    assert "price" in {column.name for column in columns_of(kept.crawl)}
    row = KeptExtraction.objects.get()
    assert (row.seen, row.read, row.missing, row.failed, row.done_at is not None) == (5, 3, 0, 0, True)


def test_options_that_were_changed_meanwhile_stay(kept: Bench) -> None:
    Crawl.objects.update(options={**kept.crawl.options, "delay": 3.0})
    kept_extraction.start(kept.crawl, (PRICE,))
    chosen = Crawl.objects.get().chosen
    assert (chosen.delay, chosen.fields) == (3.0, (PRICE,))


def test_hooks_see_kept_pages_and_their_links_are_not_requested(kept: Bench, settings: Any) -> None:
    settings.CRAWLER_HOOKS = [name_of(Measuring)]
    kept_extraction.start(kept.crawl)
    assert kept_extraction.work(kept.crawl.id, evaluate)
    (pot,) = (row for row in rows(kept.crawl) if row["url"].endswith("/pot"))
    assert (pot["heading"], pot["letters"], pot["kept"]) == ("Ein Töpfchen", len(str(PAGES["/pot"])), True)
    assert (HookCalls.objects.get().method, HookCalls.objects.get().calls) == ("on_page, kept", 3)
    assert not kept.site.hits
    assert kept.state() == "finished"


def test_pages_without_kept_html_are_counted(kept: Bench, folder: Path) -> None:
    page = PageFacts.objects.get(crawl=kept.crawl, page__url__endswith="/pot")
    PageFacts.objects.filter(page=page.page_id).update(kept={"html": "not kept: there is no room left"})
    kept_extraction.start(kept.crawl, (PRICE,))
    kept_extraction.work(kept.crawl.id, evaluate)
    assert KeptExtraction.objects.get().missing == 1
    for file in (folder / "content").rglob("*.gz"):
        file.unlink()
    kept_extraction.start(kept.crawl, (HEADING,))
    kept_extraction.work(kept.crawl.id, evaluate)
    row = KeptExtraction.objects.get()
    assert (row.read, row.missing) == (0, 3)
    assert extracted(kept)["/kettle"] == {"price": 12.5}


def test_what_cannot_be_done_is_said(bench: Bench) -> None:
    with pytest.raises(BadInput, match="This crawl stored no HTML"):
        kept_extraction.start(bench.start(fields=(HEADING,)))
    with pytest.raises(BadInput, match="Nothing to extract"):
        kept_extraction.start(bench.start(keep=("html",)))


def test_the_button_has_a_job_do_it(kept: Bench, client: Client) -> None:
    client.force_login(User.objects.create_superuser("root"))
    assert "Extract fields again" in client.get(f"/crawls/{kept.crawl.id}/").content.decode()
    PageFacts.objects.update(fields={})
    client.post(f"/crawls/{kept.crawl.id}/extract")
    status = client.get(f"/crawls/{kept.crawl.id}/status").json()
    assert (status["settled"], status["texts"]["kept_html"]) == (
        False,
        "In progress: fields extracted again from 0 pages of saved HTML.",
    )
    kept.work()
    status = client.get(f"/crawls/{kept.crawl.id}/status").json()
    assert (status["settled"], status["texts"]["kept_html"]) == (
        True,
        "Done: fields extracted again from 3 pages of saved HTML.",
    )
    assert extracted(kept)["/kettle"] == {"heading": "A kettle"}


def test_a_job_that_is_lost_is_sent_again(kept: Bench) -> None:
    kept_extraction.start(kept.crawl, (PRICE,))
    scan()
    assert kept.jobs("crawl") == []  # a worker may just have begun
    KeptExtraction.objects.update(touched_at="2000-01-01T00:00Z")
    scan()
    assert kept.jobs("crawl") == []  # it was looked for just now
    queues.connection().delete(EXTRACTIONS_SEEN)
    scan()
    assert kept.jobs("crawl") == ["extract fields from kept HTML"]
    kept.work()
    assert extracted(kept)["/kettle"] == {"price": 12.5}


def test_steps_that_are_repeated_count_once(kept: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two workers at the same pages, and one that dies before the commit."""
    begun, real = kept_extraction.start(kept.crawl, (PRICE,)), fields.replace

    def dying(*given: Any) -> None:
        real(*given)
        raise Died

    monkeypatch.setattr(fields, "replace", dying)
    with pytest.raises(Died):
        kept_extraction.work(kept.crawl.id, evaluate)
    monkeypatch.setattr(fields, "replace", real)
    assert "price" not in extracted(kept)["/kettle"]
    kept_extraction._step(KeptExtraction.objects.select_related("crawl").get(), evaluate)
    kept_extraction._step(begun, evaluate)
    kept_extraction.work(kept.crawl.id, evaluate)
    row = KeptExtraction.objects.get()
    assert (row.seen, row.read) == (5, 3)


def test_a_page_with_which_workers_die_is_left_out_and_the_others_are_not(
    kept: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept_extraction.start(kept.crawl, (PRICE,))
    deaths, real = list[str](), kept_extraction._read

    def dying(page: Any, *given: Any) -> Any:
        if page.url.endswith("/kettle"):
            deaths.append(page.url)
            raise Died
        return real(page, *given)

    monkeypatch.setattr(kept_extraction, "_read", dying)
    for _ in range(kept_extraction.MAX_TRIES + 1):
        with pytest.raises(Died):
            kept_extraction.work(kept.crawl.id, evaluate)
    assert kept_extraction.work(kept.crawl.id, evaluate)
    row = KeptExtraction.objects.get()
    assert (row.seen, row.read, row.failed) == (5, 2, 1)
    assert extracted(kept)["/pot"] == {"price": None}
    assert extracted(kept)["/kettle"] == {"heading": "A kettle"}


def test_a_page_that_was_fetched_again_meanwhile_keeps_its_fields(kept: Bench) -> None:
    facts = PageFacts.objects.get(crawl=kept.crawl, page__url__endswith="/kettle")
    old = PageMetadata(fields={"heading": "old"})
    result = PageResult(id=facts.page_id, attempt=1, outcome=Outcome.SUCCESS, facts=old)
    fields.replace(kept.crawl.id, [fields.ExtractedFields(["another object", 0, 1], result)])
    assert extracted(kept)["/kettle"] == {"heading": "A kettle"}


def test_the_command_does_it_without_workers(
    kept: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text("price: {selector: b, type: number}\n")
    assert exit_code("extract", str(kept.crawl.id), "--kept", "--fields", str(rules)) == 0
    assert capsys.readouterr().out == "Done: fields extracted again from 3 pages of saved HTML.\n"
    assert extracted(kept)["/kettle"] == {"price": 12.5}
    assert exit_code("extract", str(kept.crawl.id), "--kept", "--json") == 0
    assert capsys.readouterr().out == '{"seen": 5, "read": 3, "missing": 0, "failed": 0}\n'
    assert exit_code("extract", "https://example.com/") == 2
    assert "Give a file of rules with --fields" in capsys.readouterr().err
    assert queues.waiting_jobs()["crawl"] == 0

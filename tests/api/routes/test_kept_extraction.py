"""Fields are extracted again from kept HTML by the API: a job does it, and the progress can be asked for."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from crawler.models import Crawl, KeptExtraction, PageFacts
from tests.api.calling import Caller
from tests.bench import Bench, _uses_database_and_redis, bench, database_and_redis, handlers_are_put_back
from tests.content_storages import kept_in
from tests.site import page

__all__ = ["_uses_database_and_redis", "bench", "database_and_redis", "handlers_are_put_back"]  # fixtures


@pytest.fixture
def kept(bench: Bench, ann: User, tmp_path: Path, settings: Any) -> Crawl:
    """A crawl of ann's that is over and kept HTML."""
    kept_in(tmp_path, settings)
    bench.start(keep=("html",))
    bench.work()
    Crawl.objects.update(owner=ann)
    return bench.crawl


@pytest.mark.site({"/": page(title="A kettle")})
def test_new_rules_are_applied_by_a_job(by_ann: Caller, kept: Crawl, bench: Bench) -> None:
    path = f"/crawls/{kept.id}/extract"
    assert by_ann.get(path).json()["message"] == ""
    told = by_ann.ask("post", path, {"fields": [{"name": "heading", "selector": "title"}]}).json()
    assert (told["done"], told["message"]) == (False, "In progress: fields extracted again from 0 pages of saved HTML.")
    bench.work()
    told = by_ann.get(path).json()
    assert (told["done"], told["seen"], told["read"]) == (True, 1, 1)
    assert PageFacts.objects.get().fields == {"heading": "A kettle"}


@pytest.mark.site({"/": page()})
@pytest.mark.parametrize(
    ("body", "where", "why"),
    [
        ({"fields": [{"name": "heading", "selector": "//h1"}]}, "fields", "it looks like XPath"),
        ({}, "fields", "Nothing to extract"),
    ],
)
def test_what_cannot_be_extracted_is_said(
    by_ann: Caller, kept: Crawl, body: dict[str, Any], where: str, why: str
) -> None:
    told = by_ann.ask("post", f"/crawls/{kept.id}/extract", body)
    assert told.status_code == 422
    assert [error["field"] for error in told.json()["errors"]] == [where]
    assert why in told.content.decode()
    assert not KeptExtraction.objects.exists()

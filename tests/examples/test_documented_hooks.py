"""The classes of docs/hooks.md are imported as it says, and do what it says."""

from pathlib import Path
from typing import Any

import pytest

from crawler.models import HookCalls, PageFacts
from tests.bench import Bench
from tests.documented import blocks, text_of
from tests.examples.test_hooks import run
from tests.site import page

SHOP = {
    "/": page("/kettle", "/imprint"),
    "/kettle": page(title="A kettle"),
    "/imprint": page("/by-law"),
    "/by-law": page(),
    "/offers?all=1": page(),
}


@pytest.mark.site(SHOP)
def test_the_hooks_are_imported_by_their_names_and_called(
    bench: Bench, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line, prices, passing = blocks(text_of("hooks.md"))
    imports = prices.splitlines()[0]
    (tmp_path / "my_hooks").mkdir()
    (tmp_path / "my_hooks" / "prices.py").write_text(prices)
    (tmp_path / "my_hooks" / "queue.py").write_text(f"{imports}\n\n{passing}")
    monkeypatch.syspath_prepend(str(tmp_path))
    names = settings.CRAWLER_HOOKS = line.strip().removeprefix("CRAWLER_HOOKS=").split(",")
    run(bench)
    asked = {*SHOP} - {"/by-law"}  # only the imprint, whose links are skipped, links to it
    assert set(bench.site.hits) - {"/robots.txt"} == asked
    found = PageFacts.objects.filter(crawl=bench.crawl).select_related("page")
    assert {facts.page.url.removeprefix(bench.site.url): facts.fields for facts in found if facts.fields} == {
        path: {"length": len(SHOP[path])} for path in asked - {"/imprint"}
    }
    calls = HookCalls.objects.values_list("hook", "method", "calls", "errors", "timeouts")
    assert set(calls) == {
        (names[0], "on_page", len(asked), 0, 0),
        (names[1], "on_closed", len(asked), 0, 0),
        (names[1], "on_finished", 1, 0, 0),
    }

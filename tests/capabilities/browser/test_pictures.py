"""Pictures of rendered pages are kept like other content; what could not be taken costs no page."""

import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from crawler.capabilities.browser.result import Rendering
from crawler.capabilities.browser.rules import RenderChoices
from crawler.models import Page, PageFacts
from crawler.storage.content.objects import Reader
from tests import site
from tests.bench import Bench
from tests.content_storages import kept_in
from tests.manager.test_rendering import come, work
from tests.rendering_twin import Browser

SHELL = '<title>Shop</title><script src="/shop.js"></script><div id="root"></div>'
SITE = {"/": site.page("/good", "/late"), "/good": SHELL, "/late": SHELL}
PICTURES: dict[str, bytes | str] = {"screenshot": b"RIFF", "pdf": b"%PDF-"}
LATE: dict[str, bytes | str] = {"screenshot": "it was not ready after 20 s", "pdf": b"%PDF-"}

pytestmark = pytest.mark.site(SITE)


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Any) -> Browser:
    kept_in(tmp_path, settings)
    shown = {
        path: Rendering(html=b"<title>Shown</title><h1>Shown</h1>", pictures=pictures)
        for path, pictures in {"/good": PICTURES, "/late": LATE}.items()
    }
    come()
    return Browser(shown).installed(monkeypatch)


def kept(bench: Bench) -> Mapping[str, dict[str, Any]]:
    """Path of a page -> its kept content by format, or why there is none."""
    urls = dict(Page.objects.filter(crawl=bench.crawl).values_list("id", "url"))
    with Reader() as reader:
        return {
            urls[facts.page_id].removeprefix(bench.site.url): {
                form: gzip.decompress(reader.read((place[0], place[1], place[2]))) if isinstance(place, list) else place
                for form, place in facts.kept.items()
            }
            for facts in PageFacts.objects.filter(crawl=bench.crawl)
        }


def test_only_rendered_pages_have_pictures_and_a_missing_one_says_why(bench: Bench, browser: Browser) -> None:
    bench.start(render="auto", keep=("text", "screenshot", "pdf"))
    work(bench)
    assert bench.state() == "finished"
    assert kept(bench) == {
        "/": {"text": b"/good\n\n/late"},
        "/good": {"text": b"Shown", **PICTURES},
        "/late": {"text": b"Shown", **LATE, "screenshot": "not kept: it was not ready after 20 s"},
    }
    assert set(Page.objects.filter(crawl=bench.crawl).values_list("outcome", flat=True)) == {"2xx"}


@pytest.mark.parametrize(
    ("options", "blocked"),
    [
        ({"keep": ("html",)}, ("image", "font", "media")),
        ({"keep": ("pdf",)}, ("media",)),
        ({"keep": ("html", "screenshot"), "screenshot": "page", "screenshot_format": "jpeg"}, ("media",)),
    ],
)
def test_images_and_fonts_are_loaded_only_for_pictures(
    bench: Bench, browser: Browser, options: dict[str, Any], blocked: tuple[str, ...]
) -> None:
    bench.start(render="auto", **options)
    work(bench)
    (choices,) = set(browser.choices)
    assert isinstance(choices, RenderChoices)
    assert choices.blocked_kinds == blocked
    assert choices.pictures == tuple(form for form in options["keep"] if form != "html")
    assert choices.screenshot == options.get("screenshot", "viewport")
    assert choices.screenshot_format == options.get("screenshot_format", "webp")

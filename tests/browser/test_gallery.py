"""Somebody looks through the screenshots of a crawl, by mouse, by keyboard and on a phone."""

import struct
import zlib
from uuid import UUID

import pytest
from playwright.sync_api import Page, expect

from crawler.accounts.login_links import first_account
from crawler.core.options.catalogue import CrawlOptions
from crawler.storage.content.objects import packed
from tests.browser.conftest import Web

PAGES = 30  # more than a page of the gallery has


def picture(width: int, height: int) -> bytes:
    """A PNG of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + b"\x30\x60\xd0" * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@pytest.fixture
def crawl(web: Web) -> UUID:
    """With a screenshot of each page, all of them in one object."""
    member = packed(picture(1280, 800))

    def made() -> UUID:
        from crawler.models import PageFacts  # Django is set up by now
        from tests.factories import a_finished_crawl, a_page

        options = CrawlOptions(keep=("screenshot",), render="always", screenshot_format="png")
        crawl = a_finished_crawl(first_account(), options=options)
        for number in range(PAGES):
            page = a_page(crawl, f"https://example.com/{'long-' * 20}{number}", title=f"Page {number}")
            kept = {"screenshot": [f"{crawl.pk}/batch.screenshot.gz", number * len(member), len(member)]}
            PageFacts.objects.create(page_id=page.pk, crawl=crawl, kept=kept)
        return UUID(str(crawl.pk))

    made_id = web.stack.within(made)
    file = web.stack.folder / "content" / str(made_id) / "batch.screenshot.gz"
    file.parent.mkdir(parents=True)
    file.write_bytes(member * PAGES)
    return made_id


IS_DRAWN = "async (image) => { await image.decode(); return image.naturalWidth === 1280; }"  # once it is loaded


@pytest.mark.long
def test_the_gallery_leads_to_the_pages_and_their_screenshots(web: Web, tab: Page, crawl: UUID) -> None:
    web.log_in(tab, f"/crawls/{crawl}/")
    tab.get_by_role("link", name="Gallery").click()
    images = tab.locator(".gallery img")
    expect(images).to_have_count(24)
    images.first.scroll_into_view_if_needed()
    assert images.first.evaluate(IS_DRAWN)
    box = images.first.bounding_box()
    assert box is not None
    assert box["width"] < 400
    assert abs(box["width"] / box["height"] - 1.6) < 0.05
    tab.get_by_role("link", name="Later").click()
    expect(images).to_have_count(PAGES - 24)
    tab.get_by_role("link", name="Page 24").click()
    screenshot = tab.get_by_alt_text("Screenshot of the page")
    expect(screenshot).to_be_visible()
    assert screenshot.evaluate(IS_DRAWN)

"""A list of URLs on the page: choosing a file, and what its crawl tells of it."""

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import PATIENCE, Web
from tests.browser.test_pages import unfold
from tests.site import Site


def test_a_list_is_uploaded_crawled_and_told_of(web: Web, tab: Page, small_site: Site, tmp_path: Path) -> None:
    urls = tmp_path / "urls.csv"
    urls.write_text(f"Address,Priority\n{small_site.url}/,1\nnonsense,\n{small_site.url}/b,9\n{small_site.url}/b,\n")
    web.start_worker()
    web.log_in(tab)
    expect(tab.get_by_label("Or upload a list")).to_be_hidden()
    tab.get_by_label("A list of URLs").check()
    tab.get_by_label("Or upload a list").set_input_files(urls)
    expect(tab.get_by_label("Depth limit")).to_be_hidden()  # nothing is followed, so there is no depth
    unfold(tab, "Private networks")
    tab.get_by_label("Allow addresses that are not public").check()
    tab.get_by_role("button", name="Start").click()
    expect(tab.get_by_role("heading", name="urls.csv (2 URLs)")).to_be_visible()
    expect(tab.get_by_text("2 pages in")).to_be_visible(timeout=PATIENCE)
    expect(tab.get_by_text("4 lines: 2 URLs, 1 duplicate, 1 not usable.").first).to_be_visible()
    tab.get_by_text("1 line that cannot be used").click()
    expect(tab.get_by_role("cell", name="'nonsense' is not a web address")).to_be_visible()
    assert sorted(request.path for request in small_site.requests) == ["/", "/b", "/robots.txt"]

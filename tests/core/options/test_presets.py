"""What the usual ways to begin a crawl stand for."""

import pytest

from crawler.core.errors import BadInput
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.options.presets import Preset, applied, found_in, sections

DOCS = ["https://example.com/docs/"]


@pytest.mark.parametrize(
    ("url", "section"),
    [
        ("https://example.com/docs/", "/docs/"),
        ("https://example.com/docs/intro.html", "/docs/"),
        ("https://example.com/docs/intro", "/docs/"),
        ("https://example.com/docs/guide/a", "/docs/guide/"),
        ("https://example.com/docs", "/docs/"),  # a folder, whose name was typed without its slash
        ("https://example.com/docs/?page=/2", "/docs/"),
    ],
)
def test_a_section_is_the_folder_the_start_url_lies_in(url: str, section: str) -> None:
    assert sections([url]) == (section,)


@pytest.mark.parametrize("url", ["https://example.com/", "https://example.com/index.html"])
def test_the_whole_site_is_no_section(url: str) -> None:
    with pytest.raises(BadInput, match="choose Whole site") as error:
        applied(Preset.SECTION, CrawlOptions(), [url])
    assert error.value.field == "start_urls"


def test_one_section_takes_what_lies_below_its_folder_and_below_what_else_was_chosen() -> None:
    chosen = applied(Preset.SECTION, CrawlOptions(path_prefixes=("/blog/",), max_pages=7), DOCS)
    assert (chosen.path_prefixes, chosen.max_pages) == (("/blog/", "/docs/"), 7)


def test_of_a_list_no_link_is_followed() -> None:
    assert applied(Preset.LIST, CrawlOptions(), DOCS) == CrawlOptions(recursive=False)


def test_sitemap_only_reads_sitemaps_and_follows_no_links() -> None:
    assert applied(Preset.SITEMAP, CrawlOptions(), DOCS) == CrawlOptions(recursive=False, sitemaps=True)


@pytest.mark.parametrize("preset", Preset)
@pytest.mark.parametrize("options", [CrawlOptions(), CrawlOptions(max_pages=3, externals="check")])
def test_a_preset_is_found_again_in_its_options(preset: Preset, options: CrawlOptions) -> None:
    chosen = applied(preset, options, DOCS)
    assert found_in(chosen, DOCS, listed=False) == (preset, options)


def test_the_preset_of_a_crawl_over_an_uploaded_list_is_a_list() -> None:
    assert found_in(CrawlOptions(recursive=False), DOCS, listed=True) == (Preset.LIST, CrawlOptions())


def test_other_paths_than_the_start_urls_own_are_no_section() -> None:
    options = CrawlOptions(path_prefixes=("/blog/",))
    assert found_in(options, DOCS, listed=False) == (Preset.SITE, options)

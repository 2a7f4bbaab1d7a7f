"""Choices that exclude each other, of options that a capability has or that this installation does without."""

import pytest

from crawler.core.errors import BadInput
from crawler.core.options.catalogue import CONFLICTS, CrawlOptions, check_options
from crawler.core.options.conflicts import all_of, chosen, has, lacks, none_of

REFUSED = [
    ("render", {"render": "auto", "revisit": True}),
    ("render", {"render": "always", "response_ttl": 60.0}),
    ("engine", {"engine": "scrapy", "render": "auto"}),
    ("engine", {"engine": "scrapy", "login_url": "https://example.com/login"}),
    ("spider", {"spider": "shop.spiders.Prices", "revisit": True}),
    ("login_url", {"login_url": "https://example.com/login", "revisit": True}),
    ("login_url", {"login_url": "https://example.com/login", "render": "auto", "keep": ("warc",)}),
    ("keep", {"keep": ("screenshot", "pdf")}),
    ("keep", {"keep": ("pdf",)}),
    ("screenshot", {"screenshot": "page"}),
    ("screenshot_format", {"screenshot_format": "png"}),
    ("notify_events", {"notify_events": ("crawl.page",)}),
]


@pytest.mark.parametrize(("field", "options"), REFUSED)
def test_what_is_excluded_is_refused_at_its_option(field: str, options: dict[str, object]) -> None:
    with pytest.raises(BadInput) as refused:
        check_options(CrawlOptions(**options))
    assert refused.value.field == field


def test_each_row_refuses_something() -> None:
    refused = [CrawlOptions(**options) for _, options in REFUSED]
    for conflict in CONFLICTS:
        assert any(conflict.when(options) and conflict.excludes(options) for options in refused), conflict


def test_an_option_that_the_installation_does_not_have_is_not_chosen() -> None:
    options = CrawlOptions()
    assert not chosen("not_there")(options)
    assert none_of("not_there")(options)
    assert lacks("not_there", "html")(options)


def test_conditions_are_of_values_that_differ_from_the_defaults() -> None:
    options = CrawlOptions(delay=1.0, keep=("html", "text"))
    assert chosen("max_pages", "delay")(options)
    assert none_of("max_pages", "throttle")(options)
    assert has("keep", "text", "html")(options)
    assert not has("keep", "html", "warc")(options)
    assert not all_of(chosen("delay"), chosen("max_pages"))(options)

"""What a person typed is judged in one place, and told which field is at fault."""

import pytest

from crawler.core.errors import BadInput
from crawler.core.options.catalogue import CrawlOptions, check_options

REFUSED = [
    ("max_pages", CrawlOptions(max_pages=0)),
    ("max_pages", CrawlOptions(max_pages=-3)),
    ("max_depth", CrawlOptions(max_depth=0)),
    ("delay", CrawlOptions(delay=-1)),
    ("delay", CrawlOptions(delay=float("nan"))),
    ("delay", CrawlOptions(delay=1e9)),
    ("concurrency", CrawlOptions(concurrency=0)),
    ("concurrency", CrawlOptions(concurrency=1000)),
    ("deadline", CrawlOptions(deadline=0)),
    ("deadline", CrawlOptions(deadline=float("inf"))),
    ("page_ttl", CrawlOptions(page_ttl=-1)),
    ("page_ttl", CrawlOptions(page_ttl=float("nan"))),
    ("page_ttl", CrawlOptions(page_ttl=367 * 86400)),
    ("page_timeout", CrawlOptions(page_timeout=0)),
    ("page_timeout", CrawlOptions(page_timeout=float("nan"))),
    ("include", CrawlOptions(include=("(",))),
    ("exclude", CrawlOptions(exclude=("fine", "*bad"))),
    ("exclude", CrawlOptions(exclude=("^(?!.*draft)",))),
    ("hosts", CrawlOptions(hosts=("https://example.com/",))),
    ("hosts", CrawlOptions(hosts=("a b",))),
    ("hosts", CrawlOptions(hosts=("*",))),
    ("path_prefixes", CrawlOptions(path_prefixes=("docs/",))),
    ("path_prefixes", CrawlOptions(path_prefixes=("/docs?x",))),
    ("drop_parameters", CrawlOptions(drop_parameters=("utm_*", "a=b"))),
    ("externals", CrawlOptions(externals="all")),
    ("max_bytes", CrawlOptions(max_bytes=0)),
    ("per_minute", CrawlOptions(per_minute=0)),
    ("response_ttl", CrawlOptions(response_ttl=0)),
    ("sitemap_urls", CrawlOptions(sitemap_urls=("sitemap.xml",))),
    ("sitemap_urls", CrawlOptions(sitemap_urls=("/sitemap.xml",))),
    ("sitemap_urls", CrawlOptions(sitemap_urls=("ftp://example.com/map.xml",))),
    ("screenshot", CrawlOptions(screenshot="all")),
    ("screenshot_format", CrawlOptions(screenshot_format="gif")),
    ("notify_emails", CrawlOptions(notify_emails=("nobody",))),
    ("notify_emails", CrawlOptions(notify_emails=("a@b\nBcc: c@d",))),
    ("notify_webhooks", CrawlOptions(notify_webhooks=("ftp://example.com/",))),
]


@pytest.mark.parametrize(("field", "options"), REFUSED)
def test_a_bad_option_is_refused_by_name(field: str, options: CrawlOptions) -> None:
    with pytest.raises(BadInput) as refused:
        check_options(options)
    assert refused.value.field == field
    assert "\n" not in str(refused.value)


def test_good_options_pass() -> None:
    options = CrawlOptions(
        max_pages=1,
        max_depth=1,
        include=(r"/docs/",),
        exclude=(r"\.pdf$",),
        delay=0.5,
        concurrency=1,
        deadline=366 * 86400,
        page_ttl=0.5,
        notify_emails=("me@example.com",),
        notify_webhooks=("https://example.com/hook",),
    )
    assert check_options(options) is options


def test_options_survive_the_table() -> None:
    options = CrawlOptions(max_pages=7, include=("a", "b"), private_hosts=("*",), obey_robots=False)
    assert CrawlOptions.from_plain(options.to_plain()) == options


def test_a_name_from_a_later_version_is_ignored() -> None:
    assert CrawlOptions.from_plain({"max_pages": 7, "not_yet": True}) == CrawlOptions(max_pages=7)


@pytest.mark.parametrize("form", ["screenshot", "pdf"])
def test_a_picture_is_kept_only_of_pages_that_are_rendered(form: str) -> None:
    for render in ("auto", "always"):
        check_options(CrawlOptions(keep=(form,), render=render))
    with pytest.raises(BadInput, match=f"as {form} only of .* choose --render auto or always") as refused:
        check_options(CrawlOptions(keep=("html", form)))
    assert refused.value.field == "keep"


@pytest.mark.parametrize("field", [{"screenshot": "page"}, {"screenshot_format": "png"}])
def test_what_is_said_of_screenshots_takes_some(field: dict[str, str]) -> None:
    check_options(CrawlOptions(keep=("screenshot",), render="auto", **field))  # type: ignore[arg-type]  # texts
    with pytest.raises(BadInput, match="choose --keep screenshot") as refused:
        check_options(CrawlOptions(keep=("pdf",), render="auto", **field))  # type: ignore[arg-type]
    assert refused.value.field in field


def test_the_time_in_the_browser_is_at_most_a_minute_because_a_fetch_job_must_end() -> None:
    check_options(CrawlOptions(render_timeout=60.0))
    with pytest.raises(BadInput, match="Time in the browser must be at most 60 seconds, not 61 s"):
        check_options(CrawlOptions(render_timeout=61.0))

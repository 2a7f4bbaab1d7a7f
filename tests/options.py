"""What is typed for each option of a crawl, in its field and behind the command; its value then; what is refused."""

from dataclasses import dataclass
from typing import Any

from crawler.core.urls.query_params import TRACKING_PARAMETERS


@dataclass(frozen=True)
class Typed:
    """Words that change an option from its default."""

    field: str | list[str]
    words: list[str]
    value: Any


@dataclass(frozen=True)
class Judged:
    """What a field does not take, what is said of it, and what it takes."""

    wrong: str
    complaint: str
    right: str


LOGIN = "https://example.com/login"
SITEMAP = "https://example.com/map.xml"
HOOK = "https://example.com/hook"
SLACK = "https://hooks.slack.com/services/T/B/X"
AGENT = "MyBot/2.0 (+me@example.com)"
DISCORD = "https://discord.com/api/webhooks/1/X"

TYPED = {
    "max_pages": Typed("10", ["--max-pages", "10"], 10),
    "max_depth": Typed("2", ["--max-depth", "2"], 2),
    "max_bytes": Typed("1.5 GB", ["--max-bytes", "1.5GB"], 1_500_000_000),
    "stay_open": Typed("on", ["--stay-open"], True),
    "include": Typed("/a/\n/b/", ["--include", "/a/", "--include", "/b/"], ("/a/", "/b/")),
    "exclude": Typed(" /c/ ", ["--exclude", "/c/"], ("/c/",)),
    "login_url": Typed(LOGIN, ["--login-url", LOGIN], LOGIN),
    "login_check": Typed("a.account", ["--login-check", "a.account"], "a.account"),
    "subdomains": Typed("on", ["--subdomains"], True),
    "hosts": Typed("a.test\r\n*.b.test", ["--host", "a.test", "--host", "*.b.test"], ("a.test", "*.b.test")),
    "path_prefixes": Typed("/docs/", ["--path-prefix", "/docs/"], ("/docs/",)),
    "recursive": Typed(["off"], ["--no-recursive"], False),
    "externals": Typed("check", ["--externals", "check"], "check"),
    "traps": Typed(["off"], ["--no-traps"], False),
    "drop_parameters": Typed("ref_*", ["--drop-parameter", "ref_*"], (*TRACKING_PARAMETERS, "ref_*")),
    "sitemaps": Typed("on", ["--sitemaps"], True),
    "sitemap_urls": Typed(SITEMAP, ["--sitemap", SITEMAP], (SITEMAP,)),
    "delay": Typed("0.5", ["--delay", "0.5"], 0.5),
    "per_minute": Typed("30", ["--per-minute", "30"], 30.0),
    "concurrency": Typed("1", ["--concurrency", "1"], 1),
    "throttle": Typed(["off"], ["--no-throttle"], False),
    "obey_robots": Typed(["off"], ["--ignore-robots"], False),
    "obey_nofollow": Typed("on", ["--obey-nofollow"], True),
    "obey_noindex": Typed("on", ["--obey-noindex"], True),
    "user_agent": Typed(AGENT, ["--user-agent", AGENT], AGENT),
    "ignore_tls_errors": Typed("on", ["--ignore-tls-errors"], True),
    "priorities": Typed("/a/=9\n/b/ = 0", ["--priority", "/a/=9", "--priority", "/b/ = 0"], ("/a/=9", "/b/ = 0")),
    "weight": Typed("8", ["--weight", "8"], 8),
    "ack": Typed("early", ["--ack", "early"], "early"),
    "near_duplicates": Typed("on", ["--near-duplicates"], True),
    "render": Typed("auto", ["--render", "auto"], "auto"),
    "wait_for": Typed("main\r\n#app > p", ["--wait-for", "main", "--wait-for", "#app > p"], ("main", "#app > p")),
    "render_timeout": Typed("20s", ["--render-timeout", "20"], 20.0),
    "scroll": Typed("on", ["--scroll"], True),
    "blocked_hosts": Typed(
        "*.ads.example\r\ncdn.example",
        ["--block-host", "*.ads.example", "--block-host", "cdn.example"],
        ("*.ads.example", "cdn.example"),
    ),
    "screenshot": Typed("page", ["--screenshot", "page"], "page"),
    "screenshot_format": Typed("png", ["--screenshot-format", "png"], "png"),
    "engine": Typed("scrapy", ["--engine", "scrapy"], "scrapy"),
    "spider": Typed("shop.spiders.Prices", ["--spider", "shop.spiders.Prices"], "shop.spiders.Prices"),
    "revisit": Typed("on", ["--revisit"], True),
    "response_ttl": Typed("90", ["--cache", "90s"], 90.0),
    "deadline": Typed("1h 30m", ["--deadline", "90m"], 5400.0),
    "page_ttl": Typed("90", ["--page-ttl", "90"], 90.0),
    "page_timeout": Typed("10s", ["--page-timeout", "10"], 10.0),
    "notify_emails": Typed(
        "a@example.com\r\nb@example.com",
        ["--notify", "a@example.com", "--notify", "b@example.com"],
        ("a@example.com", "b@example.com"),
    ),
    "notify_webhooks": Typed(HOOK, ["--notify", HOOK], (HOOK,)),
    "notify_slack": Typed(SLACK, ["--notify", SLACK], (SLACK,)),
    "notify_discord": Typed(DISCORD, ["--notify", f"discord:{DISCORD}"], (DISCORD,)),
    "notify_events": Typed(
        ["crawl.started", "crawl.page"],
        ["--notify-on", "started", "--notify-on", "crawl.page"],
        ("crawl.started", "crawl.page"),
    ),
}
"""Every option but those that are no text of one field: `private_hosts`, `fields` and `keep`."""

JUDGED = {
    "max_pages": Judged("0", "must be 1 or more", "7"),
    "max_depth": Judged("deep", "must be a whole number", "3"),
    "max_bytes": Judged("lots", "must be a size", "10MB"),
    "hosts": Judged("http://x/", "is not a host", "cdn.example.net:8080"),
    "path_prefixes": Judged("docs", "is not a path prefix", "/docs/"),
    "priorities": Judged("/a/", "has no priority", "/a/=10"),
    "weight": Judged("11", "must be between 1 and 10", "10"),
    "include": Judged("(", "is not a valid regular expression", "/a/"),
    "login_url": Judged("ftp://example.com/login", "Invalid log-in page: ", LOGIN),
    "login_check": Judged("a[", "Sign of being logged in", "a.account"),
    "exclude": Judged("a\n(", "is not a valid regular expression", "a\nb"),
    "sitemap_urls": Judged("map.xml", "is a site, not a sitemap", SITEMAP),
    "concurrency": Judged("65", "must be between 1 and 64", "64"),
    "delay": Judged("-1", "Delay must be between", "0"),
    "per_minute": Judged("0", "must be more than 0", "0.5"),
    "user_agent": Judged("(no name)", "must begin with a name", "MyBot/2.0"),
    "deadline": Judged("soon", "must be a time such as 2h", "2h"),
    "page_ttl": Judged("0", "must be more than 0 seconds", "90s"),
    "page_timeout": Judged("0", "must be more than 0 seconds", "10s"),
    "wait_for": Judged("main\np[", "malformed attribute selector", "main\n#app > p"),
    "blocked_hosts": Judged("ads.example:8080", "leave it out", "*.ads.example"),
    "render_timeout": Judged("0", "must be more than 0 seconds", "20s"),
    "spider": Judged("Prices", "is not a spider", "shop.spiders.Prices"),
    "response_ttl": Judged("367d", "at most 366 days", "10m"),
    "drop_parameters": Judged("a b", "is not a parameter name", "ref_*"),
    "notify_emails": Judged("me", "is not an e-mail address", "me@example.com"),
    "notify_webhooks": Judged("me@example.com", "is not a web address", HOOK),
    "notify_slack": Judged("https://example.com/", "Slack", "https://hooks.slack.com/services/T000/B000/XXXX"),
    "notify_discord": Judged("https://example.com/", "Discord", "https://discord.com/api/webhooks/1234/XXXX"),
}
"""Those into whose fields one types."""

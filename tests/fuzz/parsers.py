"""What is attacked: each parser with where the attack begins, and how long it may take."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.fuzz import readers, scanned, seeds, tokens
from tests.fuzz.growth import FLOOR
from tests.fuzz.readers import MEGABYTE


@dataclass(frozen=True)
class Parser:
    """One parser under attack."""

    name: str
    read: Callable[[bytes], object]  # whatever it raises is a fault
    seeds: tuple[bytes, ...]
    tokens: tuple[bytes, ...]  # what means something to it
    longest: int = MEGABYTE  # bytes it is ever given
    most: float = 2.0  # seconds a megabyte
    floor: float = FLOOR  # seconds that any input may take


PARSERS = {
    parser.name: parser
    for parser in (
        Parser("url", readers.read_url, seeds.URLS, tokens.URLS),
        Parser("page", readers.read_page, seeds.PAGES, tokens.HTML, longest=4 * MEGABYTE),
        Parser("scanned", readers.read_scanned, (*scanned.CLEAN, *seeds.PAGES), (*scanned.PIECES, *tokens.HTML)),
        Parser("forms", readers.read_forms, seeds.PAGES, tokens.HTML),
        Parser("text", readers.read_text, seeds.PAGES, tokens.HTML, longest=2 * MEGABYTE),
        Parser("markdown", readers.read_markdown, seeds.PAGES, tokens.HTML, most=4.0),
        Parser("extraction", readers.read_extraction, seeds.PAGES, tokens.HTML, floor=6.0),
        Parser(
            "charset",
            readers.read_charset,
            (*seeds.HEADERS, b"\n".join(seeds.PAGES[:1])),
            (*tokens.HTML, b"charset=", b"<meta charset="),
        ),
        Parser(
            "directives",
            readers.read_directives,
            seeds.HEADERS,
            (b"noindex", b",", b":", b" ", b"unavailable_after:", b"bot: ", b"a%d,"),
        ),
        Parser("robots", readers.read_robots, seeds.ROBOTS, tokens.ROBOTS, longest=600_000, most=4.0),
        Parser("sitemap", readers.read_sitemap, seeds.SITEMAPS, (*tokens.MARKUP, *tokens.BITS[:3], seeds.PACKED[1])),
        Parser("head", readers.read_head, seeds.HEADS, tokens.HTTP, longest=70_000, most=4.0),
        Parser("proxied", readers.read_proxied, seeds.PROXIED, tokens.HTTP, longest=70_000, most=4.0),
        Parser("header", readers.read_header, seeds.HEADERS, tokens.DATES, longest=70_000),
        Parser("coding", readers.read_coding, seeds.PACKED, tokens.BITS, most=4.0),
        Parser("timetable", readers.read_timetable, seeds.TIMETABLES, tokens.CRON, longest=1000),
        Parser("number", readers.read_number, (*seeds.VALUES, *seeds.TIMETABLES), tokens.NUMBERS),
        Parser("value", readers.read_value, seeds.VALUES, tokens.NUMBERS, longest=100_000, most=4.0),
        Parser("rules", readers.read_rules, seeds.RULES, tokens.YAML, longest=100_000, most=40.0),
        Parser("selector", readers.read_selector, seeds.SELECTORS, tokens.CSS, longest=500),
        Parser("xpath", readers.read_xpath, seeds.XPATHS, tokens.XPATH, longest=500),
        Parser("pattern", readers.read_pattern, seeds.PATTERNS, tokens.REGEX, longest=20_000, floor=3.0),
        Parser("hosts", readers.read_hosts, seeds.HOSTS, tokens.TYPED, longest=100_000),
        Parser("list", readers.read_list, seeds.LISTS, (*tokens.LINES, seeds.PACKED[1]), longest=100_000, most=60.0),
        Parser("typed", readers.read_typed, seeds.TYPED, tokens.TYPED, longest=100_000),
        Parser("query", readers.read_query, seeds.QUERIES, tokens.QUERY, longest=100_000),
        Parser("options", readers.read_options, seeds.JSON[:1], tokens.JSON, longest=400_000, most=8.0),
        Parser("firecrawl", readers.read_firecrawl, seeds.JSON[1:], tokens.JSON, longest=400_000, most=8.0),
    )
}

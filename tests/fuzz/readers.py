"""How each parser is asked, and what its answer must hold to; whatever else is raised is a fault."""

from contextlib import suppress
from datetime import UTC, datetime
from typing import cast

import msgspec
from django.core.exceptions import TooManyFieldsSent
from django.http import QueryDict
from pydantic import ValidationError

from crawler.api.firecrawl import schemas
from crawler.api.firecrawl.schemas import CrawlRequest
from crawler.api.problems import Problem, read_json
from crawler.api.schemas.start import Start
from crawler.capabilities.browser import shells
from crawler.capabilities.browser.proxy_request import BadRequest, BadResponse, Request, returned
from crawler.capabilities.content import main_content
from crawler.capabilities.login.forms import login_form
from crawler.capabilities.login.logout import is_logout_url
from crawler.capabilities.traps import bounds, branches, novelty
from crawler.core.access import credentials
from crawler.core.channels import catalogue as channels
from crawler.core.errors import BadInput
from crawler.core.extraction import extractor
from crawler.core.extraction import rules as rules_text
from crawler.core.extraction.rules import TYPES, FieldRule, check_rules
from crawler.core.html import charsets, link_codec, page_metadata
from crawler.core.html.document import document_of
from crawler.core.html.links import extract
from crawler.core.options import schedule
from crawler.core.options.catalogue import CrawlOptions, check_options
from crawler.core.pages import cache_policy, page_query
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import PageResult
from crawler.core.robots import robots_txt
from crawler.core.sitemaps import reading as sitemaps
from crawler.core.text import patterns, quantities, sanitize
from crawler.core.text.quantities import bytes_of
from crawler.core.url_lists import entries, values
from crawler.core.urls import addresses, normalise, query_params
from crawler.core.urls import normalise as hosts
from crawler.core.urls.crawl_scope import Scope
from crawler.core.urls.query_params import Parameters
from crawler.fetcher import robots_check
from crawler.fetcher.xpath.evaluator import evaluate
from crawler.http import encodings, fetcher
from crawler.http.body import ResponseStream
from crawler.http.connection import Connection
from crawler.http.errors import FetchError
from crawler.http.warc_record import RecordingParser, recorded
from crawler.reports.extraction_text import note_of
from crawler.storage.content import warc
from tests.compiled import needs_it, read_both
from tests.fuzz import seeds

MEGABYTE = 1_000_000
HERE = "https://example.com/a/page?q"
FIELDS = (
    FieldRule(name="a", selector="p, td", many=True),
    FieldRule(name="b", selector="div :is(a, b) ~ *", what="html", many=True),
    FieldRule(name="c", selector="[class~=a]:has(> b)", attribute="class", pattern="(a+)+$", many=True),
    FieldRule(name="d", selector=":nth-child(2n of .a, p):not(:empty)", type="number", many=True),
)


def text_of(data: bytes) -> str:
    """As text, in which what is no UTF-8 is half of a surrogate pair: terminals and databases have such."""
    return data.decode("utf-8", "surrogateescape")


def holds(condition: object, what: str) -> None:
    """A fault when it does not."""
    if not condition:
        raise AssertionError(what)


def read_url(data: bytes) -> None:
    text = text_of(data)
    for url in (normalise.normalise(text), normalise.normalise(text, HERE)):
        if url is not None:
            holds(normalise.normalise(url) == url, "normalising twice changes a URL")
            holds(len(url) <= normalise.MAX_URL_LENGTH and "#" not in url, "a URL is too long, or has a fragment")
            holds(url.startswith(("http://", "https://")) and url.isascii(), "a URL is not of the web, or not encoded")
            holds("@" not in normalise.host_of(url), "a URL has a user")
            holds(
                normalise.origin_of(url).endswith(normalise.host_of(url)) and normalise.key_of(url), "a URL has no host"
            )
            read_of_url(url)
    holds(normalise.linker(HERE)(text) == normalise.normalise(text, HERE), "a link that is looked up is another")
    try:
        holds(normalise.normalise(normalise.parse_user_url(text)), "what a person typed is no URL")
    except BadInput as refused:
        str(refused).encode()  # without lone surrogates


def read_of_url(url: str) -> None:
    """What is made of a URL once it is one."""
    name = sanitize.file_name(url, 17, "md")
    parts = name.split("/")
    holds(all(part and not part.startswith(".") and part.isascii() for part in parts), f"{name} is no name of a file")
    holds(len(parts) <= sanitize.MAX_FOLDERS + 1 and len(name) < 700, "the name of a file is too long")
    bounds.bound_of(url, 9, HERE)
    for pattern in branches.branches_of(url):
        branches.value_and_rest(url, pattern)
        holds(branches.likely_part(pattern) in url, f"{pattern} is not looked for in {url}")
    novelty.said_of(url, url, [url])
    tidied = Parameters.of(query_params.TRACKING_PARAMETERS).without(url)
    holds(normalise.normalise(tidied) == tidied, "a URL without its parameters is no normal one")
    Scope.of([HERE], CrawlOptions(subdomains=True, path_prefixes=("/a",), exclude=("x$",))).side(url)


def read_page(data: bytes) -> None:
    html = charsets.utf_8(data)
    document = document_of(html)
    holds(shells.reason(document) in ("", *shells.Shell), "a page is a shell for no known reason")
    page = extract(document, HERE, sketches=True)
    holds(len(page.links) == len(set(page.links)), "a target comes twice")
    places, texts, rels = page.occurrences
    holds(list(dict.fromkeys(places)) == list(range(len(page.links))), "a target has no link, or not in its turn")
    holds(len(places) == len(texts) and set(rels) <= set(range(len(places))), "a link has no words, or a rel no link")
    packed = link_codec.packed(page.links, page.occurrences, HERE)
    holds(
        [link.text for link in link_codec.unpacked(packed, HERE)] == list(texts), "what was packed does not come back"
    )
    holds(all(normalise.normalise(link) == link for link in page.links[:50]), "a link is no normal one")
    holds(set(page.rels) <= set(page.links), "a rel belongs to no link")
    msgspec.json.encode(PageResult(id=1, attempt=1, outcome=Outcome.SUCCESS, title=page.title, links=page.links))
    page_metadata.directives_of(page.metas, (), "examplebot")


def read_scanned(data: bytes) -> None:
    """Skips the test where the scanner cannot be compiled."""
    needs_it()
    both = read_both(charsets.utf_8(data), HERE)
    holds(both is None or both[0] == both[1], "the scan of a page and its tree differ")


def read_forms(data: bytes) -> None:
    form = login_form(document_of(charsets.utf_8(data)), ["user"], or_password=True)
    if form is not None:
        holds("user" in form.names or form.has_password, "a form is found that is none to log in with")
        holds(form.filled_in([("user", "x")]).count(("user", "x")) == 1, "a value is not filled in once")
    url = normalise.normalise("https://example.com/" + data.decode("latin-1")[:2000])
    if url is not None:
        is_logout_url(url)


def read_charset(data: bytes) -> None:
    kind, _, body = data.partition(b"\n")
    utf_8 = charsets.utf_8(body, kind.decode("latin-1"))
    holds(utf_8.decode() is not None, "the text of a page is no UTF-8")


def read_text(data: bytes) -> None:
    main_content.text_of(charsets.utf_8(data))


def read_markdown(data: bytes) -> None:
    main_content.markdown_of(charsets.utf_8(data), HERE)


def read_directives(data: bytes) -> None:
    text = data.decode("latin-1")
    said = page_metadata.directives_of([("robots", text), (text, text)], [text, f"bot: {text}"], "bot")
    for flag, word in ((said.noindex, "noindex"), (said.nofollow, "nofollow")):
        holds(flag == page_metadata.recorded(said.text, word), "a record and its flag differ")
    page_metadata.rel_of(text)


def read_robots(data: bytes) -> None:
    rules = robots_txt.parse(data)
    robots_txt.oddity_of(data, "text/html")
    for token in ("bot", "*", ""):
        rule = rules.deciding(f"{HERE}{'a' * 60}", token)
        holds(rule is None or len(robots_check.shown(rule)) <= 300, "a rule is told at length")
        holds((rules.delay(token) or 0) >= 0, "a delay is below zero")


def read_sitemap(data: bytes) -> None:
    whole = sitemaps.read([data], HERE)
    holds(all(normalise.normalise(entry.url) == entry.url for entry in whole.entries[:50]), "an entry is no normal URL")
    if len(data) < 2000:
        for size in (1, 7):
            cut = sitemaps.read([data[at : at + size] for at in range(0, len(data), size)], HERE)
            problems = [found.problem for found in (whole, cut) if found.problem is not None]
            # Of damaged data zlib yields as much as it likes before it says so.
            is_damaged = any("damaged" in problem.detail for problem in problems)
            holds(is_damaged or cut.entries == whole.entries, "how a sitemap is cut into pieces changes what it says")


def read_head(data: bytes) -> None:
    whole, cut = read_answer(data, 4096), read_answer(data, 7 if len(data) < 9000 else 100)
    holds(whole == cut, "how an answer is cut into pieces changes what it says")


def read_answer(data: bytes, size: int) -> object:
    """What an answer says: its status, headers and body, or that there is none."""
    reading, body = RecordingParser(65536), 0
    try:
        for at in range(0, len(data), size):
            if reading.is_complete or reading.broken:
                break
            reading.feed(data[at : at + size])
            if reading.status:
                read_length(reading)
            body += sum(map(len, reading.pieces))
            reading.pieces.clear()
        else:
            reading.end()
    except FetchError:
        return None
    heads = recorded("GET", "/a", "example.com", {"A": "b"}, (), reading.status_line, reading.fields)
    warc.exchange(HERE, 0.0, (heads.request, heads.request_headers), (heads.status_line, heads.headers), b"x")
    for _, value in heads.headers:
        read_one_header(value)
    return (reading.status, reading.fields, reading.is_complete and body)


def read_length(reading: RecordingParser) -> None:
    """What is announced of a body whose head has come."""
    length = ResponseStream(
        reading, cast("Connection", None), lambda _: None
    ).length()  # it asks nothing of its connection
    holds(length is None or length >= 0, "a length is below zero")


def read_one_header(value: str) -> None:
    fetcher.text_of(value)
    holds(not any(map(str.isupper, fetcher.media_type_of(value))), "a media type is in upper case")
    wait = fetcher.parse_retry_after(value, 1.8e9)
    holds(wait is None or 0 <= wait <= fetcher.MAX_RETRY_AFTER_S, "a Retry-After is out of bounds")
    charsets.encoding_of(b"", value)
    for etag in ("", value):
        answer = PageResult(id=1, attempt=1, outcome=Outcome.SUCCESS, etag=etag, last_modified=value, fetched_at=1.8e9)
        cache_policy.validators_of(answer)


def read_proxied(data: bytes) -> None:
    """As a request to the browser's proxy, and as a response that comes back by it."""
    request = Request.parse(data)
    holds(len(request.credentials) == 2, "credentials are a user and a password")
    with suppress(BadRequest):
        holds(0 <= request.target().port <= 65535, "a port is out of range")
        request.body_size()
        forwarded = Request.parse(request.forwarded(None))
        holds(forwarded.credentials == ("", ""), "a password is forwarded")
        names = [field.partition(":")[0].lower() for field in forwarded.fields]
        holds(names.count("host") == names.count("connection") == 1, "a header is repeated")
    with suppress(BadResponse):
        status, head = returned(data)
        holds(returned(head) == (status, head), "what was returned changes when it is returned again")


def read_header(data: bytes) -> None:
    read_one_header(data.decode("latin-1"))


def read_coding(data: bytes) -> None:
    for name in ("gzip", "deflate", "br", "zstd", "x-gzip, identity"):
        out = 0
        with suppress(FetchError):
            for piece in encodings.decoded([data[at : at + 65536] for at in range(0, len(data), 65536)], name):
                holds(len(piece) <= 256 * 1024, "a piece is large")
                out += len(piece)
                if out > MEGABYTE:
                    break


def read_timetable(data: bytes) -> None:
    try:
        rule = schedule.parse(text_of(data))
    except BadInput:
        return
    now = datetime(2026, 11, 22, tzinfo=UTC)
    holds(rule.next_after(now) > now, "a schedule fires in the past")


def read_number(data: bytes) -> None:
    text = text_of(data)
    quantities.seconds_of(text)
    bytes_of(text)
    values.priority_of(text)
    values.moment_of(text)
    sitemaps.priority_of(text)


def read_rules(data: bytes) -> None:
    try:
        rules = rules_text.rules_of("fields", text_of(data))
        check_rules("fields", rules)
    except BadInput as error:
        holds(len(error.message) < 1500, "a message is long")
        return
    holds(rules_text.rules_of("fields", rules_text.text_of(rules)) == rules, "rules are not read back as they were")


def read_extraction(data: bytes) -> None:
    found = extractor.extract(charsets.utf_8(data), HERE, FIELDS)
    holds(set(found.values) == {rule.name for rule in FIELDS}, "a field has no value, not even None")
    msgspec.json.encode(found.values)


def read_selector(data: bytes) -> None:
    rule = FieldRule(name="a", selector=text_of(data), many=True)
    try:
        check_rules("fields", (rule,))
    except BadInput:
        return
    extractor.extract(seeds.PAGE * 3, HERE, (rule,))


def read_xpath(data: bytes) -> None:
    """What is accepted is evaluated, in a process that ends one which takes too long."""
    rule = FieldRule(name="a", xpath=text_of(data), many=True)
    try:
        check_rules("fields", (rule,))
    except BadInput:
        return
    extractor.extract(seeds.PAGE, HERE, (rule,), evaluate)


def read_pattern(data: bytes) -> None:
    text = text_of(data)
    with suppress(BadInput):
        patterns.check_pattern("include", text)
        patterns.Patterns.of((text, "b")).found_in("https://example.com/" + "a" * 4000)
    if len(data) < 500:
        patterns.Patterns.of(("(?:a|aa)+$",)).found_in(text.encode("utf-8", "replace").decode())


def read_value(data: bytes) -> None:
    for kind in TYPES:
        try:
            extractor.value_of(kind, text_of(data), HERE)
        except extractor.NoValue as none:
            holds(len(note_of(none.problem)) < 600, "a reason is long")


def read_hosts(data: bytes) -> None:
    text = text_of(data)
    with suppress(BadInput):
        known = addresses.parse_private_hosts([text])
        holds(addresses.parse_private_hosts(known) == known, "an entry is spelt in two ways")
        addresses.is_allowed(known, "example.com", 80, "10.0.0.1")
    addresses.is_public(text)
    for check, spell in ((hosts.check_host, hosts.parse_user_host), (hosts.check_prefix, hosts.parse_user_prefix)):
        try:
            check("hosts", text)
        except BadInput:
            continue
        spell(text)
    with suppress(BadInput):
        query_params.check_parameter("drop_parameters", text)
        Parameters.of((text,)).without(HERE)


def read_list(data: bytes) -> None:
    for name in ("a.txt", "a.csv", "a.jsonl"):
        with suppress(BadInput):
            for item in entries.entries_of([data[at : at + 65536] for at in range(0, len(data), 65536)], name):
                holds(
                    isinstance(item, entries.Invalid) or normalise.normalise(item.url) == item.url, "an entry is no URL"
                )


def read_typed(data: bytes) -> None:
    """Credentials, receivers, a proxy."""
    lines = [*text_of(data).split("\n"), *[""] * 5][:6]
    for typed in ({"headers": lines[:1]}, {"cookies": lines[1:2]}, {"auth": lines[2]}, {"bearer": lines[3]}):
        with suppress(BadInput):
            given = credentials.parse(**typed)  # type: ignore[arg-type]  # lists and texts
            holds(credentials.from_json(credentials.to_json(given)) == given, "credentials are not read back")
            sent = "".join(f"{name}{value}" for name, value in credentials.request_headers(given).items())
            holds(sent.isprintable() and sent.isascii(), "a header can be smuggled in")
            repr(given)
    for line in lines:
        with suppress(BadInput):
            receiver = channels.receiver_of("notify", line)
            channels.check_address("notify", receiver.transport, receiver.address)
            channels.shown(receiver.transport, receiver.address, in_full=False)
        with suppress(BadInput):
            proxy = addresses.Proxy.parse(line)
            holds(addresses.Proxy.parse(proxy.text) == proxy, "a proxy is not read back as it was")


def read_query(data: bytes) -> None:
    text = text_of(data)
    with suppress(BadInput, TooManyFieldsSent):
        query = page_query.read(dict(QueryDict(text.encode("utf-8", "replace")).lists()))
        said = {name: [value for known, value in query.pairs() if known == name] for name, _ in query.pairs()}
        holds(page_query.read(said) == query, "a query is not read back as it was")
        _ = (query.outcomes, query.statuses, query.depths)
    for count in (1, 2):
        with suppress(BadInput):
            holds(len(page_query.numbers_of(text, count)) == count, "a cursor has too few numbers")


def read_options(data: bytes) -> None:
    with suppress(Problem, ValidationError, BadInput):
        start = Start.model_validate(read_json(data))
        options = check_options(start.options())
        holds(check_options(CrawlOptions.from_plain(options.to_plain())) == options, "options are not read back")


def read_firecrawl(data: bytes) -> None:
    with suppress(Problem, ValidationError, BadInput):
        options = schemas.options_of(CrawlRequest.model_validate(read_json(data)))
        check_options(msgspec.convert(options, CrawlOptions))

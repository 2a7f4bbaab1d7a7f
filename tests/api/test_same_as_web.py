"""Everything the web pages can do can be done over the API, or there is a reason why not."""

from __future__ import annotations

from crawler.api.v1 import api
from crawler.web.urls import urlpatterns

LOGGING_IN = "it is how a person gets a session; a program has a token"
OF_THE_FORM = "it judges a field as it is left; a program sends the whole, which says the same by field"
A_DRAWING = "it is drawn from what another operation gives"
NOT_BY_TOKEN = "whoever finds a token must not become its person by it, nor make themselves another"
OPEN_ANYWAY = "it is for machines as it stands, at an address they know"

TABLE: dict[str, str | tuple[str, ...]] = {
    # name of the address: what does the same, or why nothing does
    "crawl-list": ("GET /crawls", "GET /crawls/{crawl_id}"),  # the form filled in as for another crawl, too
    "crawl-create": ("POST /crawls", "POST /crawls/list", "POST /schedules"),
    "crawl-check": OF_THE_FORM,
    "crawl-detail": ("GET /crawls/{crawl_id}", "GET /crawls/{crawl_id}/receipt", "GET /crawls/{crawl_id}/pages"),
    "crawl-status": ("GET /crawls/{crawl_id}", "GET /crawls/{crawl_id}/events"),
    "crawl-pages": ("GET /crawls/{crawl_id}/pages",),
    "crawl-pages-export": ("GET /crawls/{crawl_id}/pages/exports/{export_format}",),
    "page-detail": (
        "GET /crawls/{crawl_id}/pages/{page_id}",
        "GET /crawls/{crawl_id}/pages/{page_id}/ways",
        "GET /crawls/{crawl_id}/pages/{page_id}/links-out",
        "GET /crawls/{crawl_id}/pages/{page_id}/links-in",
    ),
    "page-content": ("GET /crawls/{crawl_id}/pages/{page_id}/content/{form}",),
    "crawl-exports": ("GET /crawls/{crawl_id}/exports",),
    "crawl-export": ("GET /crawls/{crawl_id}/exports/{export_format}",),
    "crawl-graph": A_DRAWING,
    "crawl-graph-data": ("GET /crawls/{crawl_id}/graph",),
    "crawl-figures": ("GET /crawls/{crawl_id}/figures",),
    "crawl-why": ("GET /crawls/{crawl_id}/why",),
    "crawl-host-forget": ("POST /crawls/{crawl_id}/hosts/{host}/forget",),
    "crawl-dead-letters": ("GET /crawls/{crawl_id}/dead-letters",),
    "crawl-orphans": ("GET /crawls/{crawl_id}/orphans",),
    "crawl-notices": ("GET /crawls/{crawl_id}/notices",),
    "notice-again": ("POST /crawls/{crawl_id}/notices/{delivery_id}/again",),
    "crawl-traps": ("GET /crawls/{crawl_id}/traps",),
    "crawl-release-traps": ("POST /crawls/{crawl_id}/traps/release",),
    "extraction-preview": ("POST /extraction/preview",),
    "crawl-pause": ("POST /crawls/{crawl_id}/pause",),
    "crawl-resume": ("POST /crawls/{crawl_id}/resume",),
    "crawl-cancel": ("POST /crawls/{crawl_id}/cancel",),
    "crawl-delete": ("DELETE /crawls/{crawl_id}",),
    "crawl-retry-failed": ("POST /crawls/{crawl_id}/retry-failed",),
    "crawl-share": ("POST /crawls/{crawl_id}/share",),
    "crawl-keep": ("POST /crawls/{crawl_id}/keep",),
    "crawl-reports": ("GET /crawls/{crawl_id}/reports",),
    "crawl-report": ("GET /crawls/{crawl_id}/reports/{slug}",),
    "crawl-report-export": ("GET /crawls/{crawl_id}/reports/{slug}/exports/{export_format}",),
    "crawl-report-part": ("GET /crawls/{crawl_id}/reports/{slug}/lines",),
    "crawl-compare": ("GET /crawls/{crawl_id}/comparisons",),
    "crawl-comparison": ("GET /crawls/{crawl_id}/comparisons/{other_id}",),
    "crawl-comparison-change": ("GET /crawls/{crawl_id}/comparisons/{other_id}/{change}",),
    "crawl-comparison-export": ("GET /crawls/{crawl_id}/comparisons/{other_id}/{change}/exports/{export_format}",),
    "schedule-list": ("GET /schedules", "GET /schedules/{schedule_id}"),
    "schedule-pause": ("POST /schedules/{schedule_id}/pause",),
    "schedule-resume": ("POST /schedules/{schedule_id}/resume",),
    "schedule-remove": ("DELETE /schedules/{schedule_id}",),
    "account": ("GET /me",),  # its name and e-mail address are changed by hand: see NOT_BY_TOKEN
    "account-password": NOT_BY_TOKEN,
    "account-log-out-everywhere": LOGGING_IN,
    "invitation": LOGGING_IN,
    "token-list": ("GET /tokens",),  # made by hand alone: see NOT_BY_TOKEN
    "token-revoke": ("DELETE /tokens/{token_id}",),
    "channel-list": ("GET /channels",),
    "channel-add": ("POST /channels",),
    "channel-change": ("GET /channels/{channel_id}", "PUT /channels/{channel_id}"),
    "channel-switch": ("POST /channels/{channel_id}/pause", "POST /channels/{channel_id}/resume"),
    "channel-remove": ("DELETE /channels/{channel_id}",),
    "channel-test": ("POST /channels/{channel_id}/test",),
    "login": LOGGING_IN,
    "login-link": LOGGING_IN,
    "logout": LOGGING_IN,
    "healthz": OPEN_ANYWAY,
    "metrics": OPEN_ANYWAY,
    "readyz": OPEN_ANYWAY,
}


def operations() -> set[str]:
    paths = api.get_openapi_schema(path_prefix="")["paths"]
    return {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}


def test_every_address_of_the_web_pages_is_thought_of() -> None:
    assert set(TABLE) == {pattern.name for pattern in urlpatterns}


def test_every_operation_named_here_is_there() -> None:
    named = {operation for does in TABLE.values() if isinstance(does, tuple) for operation in does}
    assert named <= operations()

"""Every address of the web pages and of the API, and who may use it: the one table of routes that tests go through.

A new page is a line in `WEB`, a new operation of the API a line in `API`.
"""

from dataclasses import dataclass
from typing import Any

from crawler.core.access.permissions import Scope

PEOPLE = ("nobody", "stranger", "member", "controller", "staff", "owner", "root")

LOOK = (302, 404, 200, 200, 200, 200, 200)  # by GET
CONTROL = (302, 404, 403, 302, 403, 302, 302)  # by POST; 302 is where a button leads
OWN = (302, 404, 403, 403, 403, 302, 302)
EVERYBODY = (302, 200, 200, 200, 200, 200, 200)  # who is logged in
PUBLIC = (200,) * 7


@dataclass(frozen=True)
class WebRoute:
    """A web page: who gets in, and what the API has in its place."""

    name: str  # of the address
    method: str
    statuses: tuple[int, ...]  # in the order of PEOPLE
    api: str | tuple[str, ...]  # the operations that do the same, or why none does
    sent: str = ""  # what its address is filled in with


LOGGING_IN = "a person gets a session by it; a program has a token"
OF_THE_FORM = "it checks one field while the form is filled in; a program sends all fields, and gets the same errors"
A_DRAWING = "it is drawn from the result of another operation"
NOT_BY_TOKEN = "a stolen token must not take over the account, nor create further tokens"
OPEN_ANYWAY = "it is for machines already"

WEB = [
    WebRoute("crawl-list", "GET", EVERYBODY, ("GET /crawls", "GET /crawls/{crawl_id}")),  # or a crawl to copy
    WebRoute("crawl-create", "POST", (302, *[400] * 6), ("POST /crawls", "POST /crawls/list", "POST /schedules")),
    WebRoute(
        "crawl-detail",
        "GET",
        LOOK,
        ("GET /crawls/{crawl_id}", "GET /crawls/{crawl_id}/receipt", "GET /crawls/{crawl_id}/pages"),
    ),
    WebRoute("crawl-status", "GET", LOOK, ("GET /crawls/{crawl_id}", "GET /crawls/{crawl_id}/events")),
    WebRoute("crawl-export", "GET", LOOK, ("GET /crawls/{crawl_id}/exports/{export_format}",), "csv"),
    WebRoute("crawl-exports", "GET", LOOK, ("GET /crawls/{crawl_id}/exports",)),
    WebRoute("crawl-graph", "GET", LOOK, A_DRAWING),
    WebRoute(
        "crawl-gallery",
        "GET",
        LOOK,
        ("GET /crawls/{crawl_id}/pages/{page_id}", "GET /crawls/{crawl_id}/pages/{page_id}/content/{form}"),
    ),
    WebRoute("crawl-graph-data", "GET", LOOK, ("GET /crawls/{crawl_id}/graph",)),
    WebRoute("crawl-figures", "GET", LOOK, ("GET /crawls/{crawl_id}/figures",)),
    WebRoute("crawl-check", "POST", (302, *[404] * 6), OF_THE_FORM),  # no field is named
    WebRoute("extraction-preview", "POST", (302, *[400] * 6), ("POST /extraction/preview",)),  # no page is named
    WebRoute("page-content", "GET", LOOK, ("GET /crawls/{crawl_id}/pages/{page_id}/content/{form}",), "text"),
    WebRoute("crawl-pages", "GET", LOOK, ("GET /crawls/{crawl_id}/pages",)),
    WebRoute("crawl-pages-export", "GET", LOOK, ("GET /crawls/{crawl_id}/pages/exports/{export_format}",), "csv"),
    WebRoute(
        "page-detail",
        "GET",
        LOOK,
        (
            "GET /crawls/{crawl_id}/pages/{page_id}",
            "GET /crawls/{crawl_id}/pages/{page_id}/ways",
            "GET /crawls/{crawl_id}/pages/{page_id}/links-out",
            "GET /crawls/{crawl_id}/pages/{page_id}/links-in",
        ),
    ),
    WebRoute("crawl-reports", "GET", LOOK, ("GET /crawls/{crawl_id}/reports",)),
    WebRoute("crawl-report", "GET", LOOK, ("GET /crawls/{crawl_id}/reports/{slug}",), "statuses"),
    WebRoute(
        "crawl-report-export",
        "GET",
        LOOK,
        ("GET /crawls/{crawl_id}/reports/{slug}/exports/{export_format}",),
        "csv statuses",
    ),
    WebRoute("crawl-report-part", "GET", LOOK, ("GET /crawls/{crawl_id}/reports/{slug}/lines",), "2xx-200 statuses"),
    WebRoute("crawl-compare", "GET", LOOK, ("GET /crawls/{crawl_id}/comparisons",)),
    WebRoute("crawl-comparison", "GET", LOOK, ("GET /crawls/{crawl_id}/comparisons/{other_id}",)),
    WebRoute(
        "crawl-comparison-change", "GET", LOOK, ("GET /crawls/{crawl_id}/comparisons/{other_id}/{change}",), "new"
    ),
    WebRoute(
        "crawl-comparison-export",
        "GET",
        LOOK,
        ("GET /crawls/{crawl_id}/comparisons/{other_id}/{change}/exports/{export_format}",),
        "csv new",
    ),
    WebRoute("crawl-why", "GET", LOOK, ("GET /crawls/{crawl_id}/why",)),
    WebRoute("crawl-host-forget", "POST", CONTROL, ("POST /crawls/{crawl_id}/hosts/{host}/forget",), "example.com"),
    WebRoute("crawl-dead-letters", "GET", LOOK, ("GET /crawls/{crawl_id}/dead-letters",)),
    WebRoute("crawl-orphans", "GET", LOOK, ("GET /crawls/{crawl_id}/orphans",)),
    WebRoute("crawl-traps", "GET", LOOK, ("GET /crawls/{crawl_id}/traps",)),
    WebRoute("crawl-release-traps", "POST", CONTROL, ("POST /crawls/{crawl_id}/traps/release",)),
    WebRoute("crawl-pause", "POST", CONTROL, ("POST /crawls/{crawl_id}/pause",)),
    WebRoute("crawl-resume", "POST", CONTROL, ("POST /crawls/{crawl_id}/resume",)),
    WebRoute("crawl-add", "POST", (302, 404, 403, 400, 403, 400, 400), ("POST /crawls/{crawl_id}/urls",)),
    WebRoute("crawl-again", "POST", CONTROL, ("POST /crawls/{crawl_id}/again",)),
    WebRoute("crawl-change", "POST", CONTROL, ("PATCH /crawls/{crawl_id}",)),
    WebRoute("crawl-finish", "POST", CONTROL, ("POST /crawls/{crawl_id}/finish",)),
    WebRoute("crawl-cancel", "POST", CONTROL, ("POST /crawls/{crawl_id}/cancel",)),
    WebRoute("crawl-retry-failed", "POST", CONTROL, ("POST /crawls/{crawl_id}/retry-failed",)),
    WebRoute("crawl-extract", "POST", CONTROL, ("POST /crawls/{crawl_id}/extract",)),
    WebRoute("crawl-delete", "POST", OWN, ("DELETE /crawls/{crawl_id}",)),
    WebRoute("crawl-share", "POST", OWN, ("POST /crawls/{crawl_id}/share",)),
    WebRoute("crawl-keep", "POST", OWN, ("POST /crawls/{crawl_id}/keep",)),
    WebRoute("dead-letters", "GET", EVERYBODY, ("GET /dead-letters", "GET /dead-letters/counts")),
    WebRoute("dead-letters-retry", "POST", (302,) * 7, ("POST /dead-letters/retry",)),
    WebRoute("schedule-list", "GET", EVERYBODY, ("GET /schedules", "GET /schedules/{schedule_id}")),
    WebRoute("schedule-pause", "POST", CONTROL, ("POST /schedules/{schedule_id}/pause",)),
    WebRoute("schedule-resume", "POST", CONTROL, ("POST /schedules/{schedule_id}/resume",)),
    WebRoute("schedule-remove", "POST", OWN, ("DELETE /schedules/{schedule_id}",)),
    WebRoute("account", "GET", EVERYBODY, ("GET /me",)),  # changed by hand alone: see NOT_BY_TOKEN
    WebRoute("account-password", "GET", EVERYBODY, NOT_BY_TOKEN),
    WebRoute("token-list", "GET", EVERYBODY, ("GET /tokens",)),  # created by hand alone: see NOT_BY_TOKEN
    WebRoute("crawl-notices", "GET", LOOK, ("GET /crawls/{crawl_id}/notices",)),
    WebRoute(
        "notice-again",
        "POST",
        (302, 404, 403, 404, 403, 404, 404),  # there is no such delivery
        ("POST /crawls/{crawl_id}/notices/{delivery_id}/again",),
    ),
    WebRoute("channel-secret", "POST", (302, *[404] * 6), ("POST /channels/{channel_id}/secret",)),
    WebRoute("webhook-secret", "POST", (302, *[400] * 6), ("POST /webhook-secrets",)),  # no address is named
    WebRoute("channel-list", "GET", EVERYBODY, ("GET /channels",)),
    WebRoute("channel-add", "POST", (302, *[400] * 6), ("POST /channels",)),
    WebRoute("channel-change", "POST", (302, *[404] * 6), ("GET /channels/{channel_id}", "PUT /channels/{channel_id}")),
    WebRoute(
        "channel-switch",
        "POST",
        (302, *[404] * 6),
        ("POST /channels/{channel_id}/pause", "POST /channels/{channel_id}/resume"),
    ),
    WebRoute("channel-remove", "POST", (302,) * 7, ("DELETE /channels/{channel_id}",)),  # it is gone already
    WebRoute("channel-test", "POST", (302, *[404] * 6), ("POST /channels/{channel_id}/test",)),
    WebRoute("token-revoke", "POST", (302,) * 7, ("DELETE /tokens/{token_id}",), "1"),
    WebRoute("account-log-out-everywhere", "POST", (302,) * 7, LOGGING_IN),
    WebRoute("invitation", "GET", (410,) * 7, LOGGING_IN),
    WebRoute("login", "GET", (200, *[302] * 6), LOGGING_IN),
    WebRoute("login-link", "GET", (410,) * 7, LOGGING_IN),
    WebRoute("logout", "POST", (302,) * 7, LOGGING_IN),
    WebRoute("healthz", "GET", PUBLIC, OPEN_ANYWAY),
    WebRoute("readyz", "GET", PUBLIC, OPEN_ANYWAY),
    WebRoute("metrics", "GET", (401, 401, 401, 401, 200, 401, 200), OPEN_ANYWAY),
]


NOWHERE_URL = "http://127.0.0.1:8/"
WEBHOOK_URL = "https://example.com/hook"


@dataclass(frozen=True)
class ApiRoute:
    """A route of the API and what it answers to its owner."""

    method: str
    path: str
    scope: Scope
    status: int = 200
    body: Any = None
    of_one: bool = True  # it is about one thing, which is somebody's


READ, WRITE, DELETE = Scope.CRAWLS_READ, Scope.CRAWLS_WRITE, Scope.CRAWLS_DELETE
START = {"start_urls": [NOWHERE_URL], "allow_private": True}
CHANNEL = {"transport": "email", "address": "me@example.com"}

API = [
    ApiRoute("get", "/crawls", READ, of_one=False),
    ApiRoute("post", "/crawls", WRITE, 201, START, of_one=False),
    ApiRoute("get", "/crawls/{crawl_id}", READ),
    ApiRoute("delete", "/crawls/{crawl_id}", DELETE, 204),
    ApiRoute("patch", "/crawls/{crawl_id}", WRITE, 200, {"delay": 2}),
    ApiRoute("get", "/crawls/{crawl_id}/receipt", READ),
    ApiRoute("get", "/crawls/{crawl_id}/why", READ),
    ApiRoute("post", "/crawls/list", WRITE, 422, {}, of_one=False),  # JSON has no file in it
    ApiRoute("post", "/crawls/{crawl_id}/share", WRITE, 200, {"group": None}),
    ApiRoute("post", "/crawls/{crawl_id}/keep", WRITE, 200, {"keep": True}),
    ApiRoute("get", "/crawls/{crawl_id}/figures", READ),
    ApiRoute("get", "/crawls/{crawl_id}/graph", READ),
    ApiRoute("get", "/crawls/{crawl_id}/reports", READ),
    ApiRoute("get", "/crawls/{crawl_id}/reports/{slug}", READ),
    ApiRoute("get", "/crawls/{crawl_id}/reports/{slug}/lines?key=2xx-200", READ),
    ApiRoute("get", "/crawls/{crawl_id}/reports/{slug}/exports/{export_format}", READ),
    ApiRoute("get", "/crawls/{crawl_id}/comparisons", READ),
    ApiRoute("get", "/crawls/{crawl_id}/comparisons/{other_id}", READ),
    ApiRoute("get", "/crawls/{crawl_id}/comparisons/{other_id}/{change}", READ),
    ApiRoute("get", "/crawls/{crawl_id}/comparisons/{other_id}/{change}/exports/{export_format}", READ),
    ApiRoute("get", "/crawls/{crawl_id}/notices", READ),
    ApiRoute("post", "/crawls/{crawl_id}/notices/{delivery_id}/again", WRITE),
    ApiRoute("post", "/crawls/{crawl_id}/pause", WRITE),
    ApiRoute("post", "/crawls/{crawl_id}/resume", WRITE),
    ApiRoute("post", "/crawls/{crawl_id}/cancel", WRITE),
    ApiRoute("post", "/crawls/{crawl_id}/finish", WRITE),
    ApiRoute("post", "/crawls/{crawl_id}/retry-failed", WRITE),
    ApiRoute("post", "/crawls/{crawl_id}/urls", WRITE, 200, {"urls": ["https://example.com/new"]}),
    ApiRoute("post", "/crawls/{crawl_id}/again", WRITE, 200, {"pages": [7]}),
    ApiRoute("post", "/crawls/{crawl_id}/extract", WRITE, 422),  # it kept no HTML
    ApiRoute("get", "/crawls/{crawl_id}/extract", READ),
    ApiRoute("post", "/crawls/{crawl_id}/hosts/{host}/forget", WRITE),
    ApiRoute("get", "/crawls/{crawl_id}/pages", READ),
    ApiRoute("get", "/crawls/{crawl_id}/pages/{page_id}", READ),
    ApiRoute("get", "/crawls/{crawl_id}/pages/exports/{export_format}", READ),
    ApiRoute("get", "/crawls/{crawl_id}/pages/{page_id}/ways", READ),
    ApiRoute("get", "/crawls/{crawl_id}/pages/{page_id}/content/{form}", READ),
    ApiRoute("get", "/crawls/{crawl_id}/pages/{page_id}/links-out", READ),
    ApiRoute("get", "/crawls/{crawl_id}/pages/{page_id}/links-in", READ),
    ApiRoute("get", "/crawls/{crawl_id}/dead-letters", READ),
    ApiRoute("get", "/crawls/{crawl_id}/queue", READ),
    ApiRoute("get", "/crawls/{crawl_id}/orphans", READ),
    ApiRoute("get", "/crawls/{crawl_id}/traps", READ),
    ApiRoute("post", "/crawls/{crawl_id}/traps/release", WRITE),
    ApiRoute("get", "/crawls/{crawl_id}/exports", READ),
    ApiRoute("get", "/crawls/{crawl_id}/exports/{export_format}", READ),
    ApiRoute("get", "/crawls/{crawl_id}/events", READ),
    ApiRoute("get", "/dead-letters", READ, of_one=False),
    ApiRoute("get", "/dead-letters/counts", READ, of_one=False),
    ApiRoute("post", "/dead-letters/retry", WRITE, 200, {"all": True}, of_one=False),
    ApiRoute("post", "/extraction/preview", WRITE, 422, {"try_url": NOWHERE_URL}, of_one=False),  # no rules
    ApiRoute("get", "/channels", Scope.CHANNELS_READ, of_one=False),
    ApiRoute("post", "/channels", Scope.CHANNELS_WRITE, 201, CHANNEL, of_one=False),
    ApiRoute("get", "/channels/{channel_id}", Scope.CHANNELS_READ),
    ApiRoute("put", "/channels/{channel_id}", Scope.CHANNELS_WRITE, 200, CHANNEL),
    ApiRoute("post", "/channels/{channel_id}/pause", Scope.CHANNELS_WRITE),
    ApiRoute("post", "/channels/{channel_id}/resume", Scope.CHANNELS_WRITE),
    ApiRoute("post", "/channels/{channel_id}/test", Scope.CHANNELS_WRITE),
    ApiRoute("post", "/channels/{channel_id}/secret", Scope.CHANNELS_WRITE, 422),  # it is no webhook
    ApiRoute("post", "/webhook-secrets", Scope.CHANNELS_WRITE, 200, {"address": WEBHOOK_URL}, of_one=False),
    ApiRoute("delete", "/channels/{channel_id}", Scope.CHANNELS_WRITE, 204),
    ApiRoute("get", "/schedules", Scope.SCHEDULES_READ, of_one=False),
    ApiRoute("post", "/schedules", Scope.SCHEDULES_WRITE, 201, {**START, "rule": "every 6h"}, of_one=False),
    ApiRoute("get", "/schedules/{schedule_id}", Scope.SCHEDULES_READ),
    ApiRoute("post", "/schedules/{schedule_id}/pause", Scope.SCHEDULES_WRITE),
    ApiRoute("post", "/schedules/{schedule_id}/resume", Scope.SCHEDULES_WRITE),
    ApiRoute("delete", "/schedules/{schedule_id}", Scope.SCHEDULES_WRITE, 204),
    ApiRoute("get", "/tokens", Scope.TOKENS_READ, of_one=False),
    ApiRoute("delete", "/tokens/{token_id}", Scope.TOKENS_WRITE, 204),
    ApiRoute("get", "/scale", Scope.SCALE_READ, of_one=False),
    ApiRoute("post", "/crawl", WRITE, 422, {"url": NOWHERE_URL}, of_one=False),  # a private address
    ApiRoute("get", "/crawl/active", READ, of_one=False),
    ApiRoute("get", "/crawl/{crawl_id}", READ),
    ApiRoute("get", "/crawl/{crawl_id}/errors", READ),
    ApiRoute("delete", "/crawl/{crawl_id}", WRITE),
    ApiRoute("post", "/map", READ, 200, {"url": "https://example.com/"}, of_one=False),
]

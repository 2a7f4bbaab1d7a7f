"""The NinjaAPI object: its routers, and the responses to errors."""

from __future__ import annotations

import logging
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.http.request import RawPostDataException
from django.urls import URLPattern, path, re_path
from django.views.decorators.http import require_safe
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.openapi.schema import OpenAPISchema
from redis import RedisError

from crawler import __version__
from crawler.api.firecrawl import routes as firecrawl
from crawler.api.middleware import api_view, not_there
from crawler.api.openapi import Document, docs
from crawler.api.problems import TROUBLE, Problem, StrictParser, no_form, place, problem, service_down, unauthenticated
from crawler.api.routes import (
    control,
    crawls,
    dead_letters,
    exports,
    extraction,
    kept_extraction,
    notices,
    pages,
    progress,
    queue,
    reports,
    scale,
    schedules,
    tokens,
)
from crawler.core.errors import BadInput, LoadStopped, NoCrawl, OverQuota, ServiceDown, TooBusy
from crawler.core.text.controls import Surface
from crawler.crawls.holds import shortage_of
from crawler.reports.cause_text import shortage_text

log = logging.getLogger(__name__)

DESCRIPTION = """Everything the web pages can do, for programs. Send a token, created at /account/tokens/, as
`Authorization: Bearer ...`. Lists have pages: follow `next` until it is null. A POST with an `Idempotency-Key` can
be repeated. Errors are application/problem+json; `errors` names each invalid field."""


class Api(NinjaAPI):
    """An API with our own kind of OpenAPI document."""

    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None
    ) -> OpenAPISchema:
        """The paths begin with `path_prefix`, or as they do on this server."""
        return Document(self, self.get_root_path(path_params or {}) if path_prefix is None else path_prefix)


api = Api(
    title="Site Crawler",
    version=__version__,
    description=DESCRIPTION,
    urls_namespace="api-1",
    docs_url=None,
    parser=StrictParser(),
)
for of_crawls in (
    *(crawls.router, crawls.list_router, control.router, control.sharing_router, progress.router, pages.router),
    *(exports.content_router, reports.router, reports.comparison_router, reports.graph_router, pages.trap_router),
    *(notices.router, exports.router, progress.event_router, queue.router, kept_extraction.router),
):
    api.add_router("/crawls", of_crawls)
api.add_router("/dead-letters", dead_letters.router)
api.add_router("/extraction", extraction.router)
api.add_router("/channels", notices.channel_router)
api.add_router("/webhook-secrets", notices.secret_router)
api.add_router("/schedules", schedules.router)
api.add_router("/tokens", tokens.router)
api.add_router("/me", tokens.me)
api.add_router("/scale", scale.router)
api.add_router("", firecrawl.router)


@api.exception_handler(Problem)
def _problem(request: HttpRequest, error: Problem) -> HttpResponse:
    return error.response()


@api.exception_handler(AuthenticationError)
def _unauthenticated(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    return unauthenticated(was_sent_a_token=False).response()


@api.exception_handler(HttpError)
def _http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    if isinstance(error.__cause__, Problem):  # raised by our parser
        return error.__cause__.response()
    return problem(error.status_code, str(error))


@api.exception_handler(Http404)
def _not_there(request: HttpRequest, error: Http404) -> HttpResponse:
    return problem(404, "There is nothing at this address.")


@api.exception_handler(ValidationError)
def _not_valid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    places = [place(_place_of(found["loc"]), found["msg"]) for found in error.errors]
    return problem(422, "The request contains invalid values; see `errors`.", errors=places)


@api.exception_handler(RawPostDataException)
def _a_form(request: HttpRequest, error: RawPostDataException) -> HttpResponse:
    """The body was parsed as a form before the view, which takes a body of another kind."""
    return no_form().response()


@api.exception_handler(BadInput)
def _bad_input(request: HttpRequest, error: BadInput) -> HttpResponse:
    source = "query" if request.method == "GET" else "body"
    detail = error.on(Surface.API)
    return problem(422, detail, errors=[place([source, *error.field.split(".")], detail)])


@api.exception_handler(OverQuota)
def _over_quota(request: HttpRequest, error: OverQuota) -> HttpResponse:
    return problem(429, error.message, headers={"Retry-After": str(error.retry_after)})


@api.exception_handler(TooBusy)
def _too_busy(request: HttpRequest, error: TooBusy) -> HttpResponse:
    return problem(429, str(error), headers={"Retry-After": str(error.retry_after)})


@api.exception_handler(NoCrawl)
def _no_crawl(request: HttpRequest, error: NoCrawl) -> HttpResponse:
    return problem(404, str(error))


@api.exception_handler(LoadStopped)
def _stopped(request: HttpRequest, error: LoadStopped) -> HttpResponse:
    return problem(409, str(error))


@api.exception_handler(ServiceDown)
def _service_down(request: HttpRequest, error: ServiceDown) -> HttpResponse:
    return service_down(str(error)).response()


@api.exception_handler(RedisError)
def _redis_down(request: HttpRequest, error: RedisError) -> HttpResponse:
    log.error("Redis does not respond: %s", error)
    short = shortage_of(error)
    what = "Redis does not respond." if short is None else shortage_text(short)
    detail = f"{what[:-1]}, so this may be half done. It is safe to try again in a moment."
    return service_down(detail).response()


@api.exception_handler(Exception)
def _trouble(request: HttpRequest, error: Exception) -> HttpResponse:
    if isinstance(
        error, SuspiciousOperation | MultiPartParserError | UnreadablePostError | OperationalError | InterfaceError
    ):
        raise error  # `api_view` answers them: they can also occur outside a view
    log.exception("%s %s failed", request.method, request.path)
    return problem(500, TROUBLE)


def _place_of(loc: tuple[Any, ...]) -> list[Any]:
    """The path in the request: django-ninja adds the name of the function's argument."""
    source, *path = loc
    if source in {"form", "file"}:
        return ["body", *path]
    return [source, *path[1:]] if source == "body" else [source, *path]


def _wrapped(pattern: URLPattern) -> URLPattern:
    """The pattern with its view wrapped by `api_view`."""
    view = pattern.callback
    if pattern.name == "openapi-json":  # django-ninja accepts every method
        view = require_safe(view)
    return URLPattern(pattern.pattern, api_view(view), pattern.default_args, pattern.name)


_patterns, _, _namespace = api.urls
app_name = _namespace
urlpatterns = [
    path("docs", api_view(docs), name="docs"),
    *(_wrapped(pattern) for pattern in _patterns if isinstance(pattern, URLPattern)),
    re_path("", api_view(not_there)),
]

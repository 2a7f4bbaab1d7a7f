"""Operations and the OpenAPI document of them: examples, error responses, parameters; the page that shows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from ninja import Router
from ninja.constants import NOT_SET
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation

from crawler.api.addresses import address
from crawler.api.callers import BearerToken, Session
from crawler.api.problems import MEDIA_TYPE
from crawler.core.access.permissions import Scope

Function = TypeVar("Function", bound=Callable[..., Any])

JSON = "application/json"
FORM = "multipart/form-data"
A_CRAWL = "/{uuid:crawl_id}"
CRAWL_ID = "0b7c1c1e-9a53-4b62-9d55-1f0a3f2f8a11"
SCHEDULE_ID = "5e0c7f6e-2f0a-4f0e-8a53-3d1f3a1b2c3d"


class Operations(Router):
    """The operations of one kind: each has the id `kind_name`, its scope and its examples. Their paths are below
    `below`."""

    def __init__(self, kind: str, *, tag: str = "", below: str = "") -> None:
        super().__init__(tags=[tag or kind])
        self.kind, self.below = kind, below

    def on(
        self,
        call: str,
        summary: str,
        scope: Scope | None,
        returns: Any = None,
        example: Any = None,
        *,
        sends: Any = None,
        sends_as: str = JSON,
        status: int = 200,
        content: dict[str, Any] | None = None,
        name: str = "",
    ) -> Callable[[Function], Function]:
        """Answer `call`, as "GET /path", with a schema and its example, or with `content` by media type. Without a
        scope any token will do. The name is that of the function, unless given."""
        method, _, path = call.partition(" ")
        response: dict[str, Any] = {"content": content} if content else {}
        if example is not None:
            response = {"content": {JSON: {"example": example}}}
        extra: dict[str, Any] = {"responses": {status: response}}
        if sends is not None:
            extra["requestBody"] = {"content": {sends_as: {"example": sends}}}

        def add(function: Function) -> Function:
            self.add_api_operation(
                self.below + path,
                [method],
                function,
                operation_id=f"{self.kind}_{name or function.__name__}",
                auth=[BearerToken(scope), Session()],
                response=NOT_SET if content else {status: returns},
                summary=summary,
                openapi_extra=extra,
            )
            return function

        return add


# Swagger UI has images in its style sheet as data: URLs, which no other page may have.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

SETTINGS = {"layout": "BaseLayout", "deepLinking": True, "docExpansion": "list"}

PROBLEM_SCHEMA: dict[str, Any] = {
    "title": "Problem",
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "The problem, and how to solve it."},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "field": {"type": "string", "description": "Its path: `start_urls.0`."},
                    "in": {"type": "string", "description": "`body`, `query`, `path` or `header`."},
                    "pointer": {"type": "string", "description": "The same as a JSON pointer: `#/start_urls/0`."},
                    "detail": {"type": "string"},
                },
            },
        },
    },
}
PROBLEM_EXAMPLE = {
    "type": "about:blank",
    "title": "Unprocessable Entity",
    "status": 422,
    "detail": "Page limit must be 1 or more, not 0.",
    "errors": [
        {"field": "max_pages", "in": "body", "pointer": "#/max_pages", "detail": "Page limit must be 1 or more, not 0."}
    ],
}
PROBLEMS = {
    "400": "The request cannot be read.",
    "401": "The caller is unknown.",
    "403": "The token lacks the scope.",
    "404": "It does not exist, or you may not see it.",
    "409": "Not possible in this state, or already under way.",
    "410": "It existed, but is no longer available.",
    "413": "The body is too large.",
    "414": "The address is too long; the response is an HTML page of the web server.",
    "415": "The call does not accept this type of body.",
    "422": "A value is invalid.",
    "429": "Too many calls within a minute, or too many slow calls at once.",
    "503": "Redis or the database does not respond.",
}
IDEMPOTENCY_KEY = {
    "in": "header",
    "name": "Idempotency-Key",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
    "description": "A unique text for each call. Repeated calls with it run only once.",
}


PATH_PARAMETERS = {
    "crawl_id": "The crawl.",
    "other_id": "The earlier crawl to compare it with.",
    "host": "The host, with its port unless it is the default one.",
    "page_id": "The page, by its `id` in the list of the crawl's pages.",
    "delivery_id": "The delivery, by its `id` in the list of the crawl's notices.",
    "channel_id": "The channel.",
    "schedule_id": "The schedule.",
    "token_id": "The token, by its `id` in the list of tokens.",
    "slug": "The report, by its `slug` in the list of reports.",
    "change": "The kind of difference: `new`, `gone`, `status`, `title` or `content`.",
    "form": "The format of the stored content.",
    "export_format": "The format of the file.",
}
"""Descriptions of the path parameters; each name has one meaning."""


class Document(OpenAPISchema):
    """The document; each operation names its scope and its error responses."""

    def operation_details(self, operation: Operation) -> dict[str, Any]:
        details: dict[str, Any] = super().operation_details(operation)
        problems = {status: _problem_response(status, text) for status, text in PROBLEMS.items()}
        details["responses"] = {str(status): response for status, response in details["responses"].items()} | problems
        for parameter in details["parameters"]:
            if parameter["in"] == "path":
                parameter.setdefault("description", PATH_PARAMETERS[parameter["name"]])
        if "POST" in operation.methods:
            details["parameters"] = [*details["parameters"], IDEMPOTENCY_KEY]
        scope = next((auth.scope for auth in operation.auth_callbacks if isinstance(auth, BearerToken)), None)
        if scope is not None:
            details["security"] = [{"BearerToken": [scope.value]}, {"Session": []}]
            details["description"] = f"{details.get('description', '')}\n\nScope: `{scope}`.".strip()
        return details

    def get_components(self) -> dict[str, Any]:
        components: dict[str, Any] = super().get_components()
        components["schemas"]["Problem"] = PROBLEM_SCHEMA
        return components


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """The document in Swagger UI, from our own static files; its calls are made as the logged-in user."""
    response = render(request, "crawler/api_docs.html", {"settings": {"url": address("openapi.json"), **SETTINGS}})
    response["Content-Security-Policy"] = CONTENT_SECURITY_POLICY
    return response


def _problem_response(status: str, description: str) -> dict[str, Any]:
    if status == "414":
        return {"description": description, "content": {"text/html": {"schema": {"type": "string"}}}}
    content = {"schema": {"$ref": "#/components/schemas/Problem"}, "example": PROBLEM_EXAMPLE}
    return {"description": description, "content": {MEDIA_TYPE: content}}

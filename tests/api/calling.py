"""Calling the API as a program does."""

import json
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from crawler.accounts.tokens import make_token
from crawler.core.access.permissions import Scope

ROOT = "/api/v1"


def a_token(user: User, *scopes: Scope, **fields: Any) -> str:
    """The secret of a new token."""
    return make_token(user, "a program", scopes, now=timezone.now(), **fields)[1]


class Caller:
    """A program with a token, or with none."""

    def __init__(self, token: str | None) -> None:
        self._client = Client(headers={"Authorization": f"Bearer {token}"} if token else {})

    def get(self, path: str, **headers: str) -> Any:
        return self._client.get(self._address(path), headers=_named(headers))

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        sent = self.bytes_of(body)
        return self._client.post(self._address(path), sent, content_type="application/json", headers=_named(headers))

    def bytes_of(self, body: Any) -> bytes:
        """What is sent for it: text as it stands, else JSON."""
        if isinstance(body, bytes):
            return body
        return b"" if body is None else (body if isinstance(body, str) else json.dumps(body)).encode()

    def put(self, path: str, body: Any = None) -> Any:
        return self._client.put(self._address(path), self.bytes_of(body), content_type="application/json")

    def send(self, path: str, parts: dict[str, Any], **headers: str) -> Any:
        """A form, with files among its parts."""
        return self._client.post(self._address(path), parts, headers=_named(headers))

    def delete(self, path: str) -> Any:
        return self._client.delete(self._address(path))

    def patch(self, path: str, body: Any = None) -> Any:
        return self._client.patch(self._address(path), self.bytes_of(body), content_type="application/json")

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        has_body = method in {"post", "put", "patch"}
        return getattr(self, method)(path, body) if has_body else getattr(self, method)(path)

    def _address(self, path: str) -> str:
        return path if path.startswith("http://") else ROOT + path


def _named(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}

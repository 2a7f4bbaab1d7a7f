"""Middleware that believes proxies only if they are named in CRAWLER_TRUSTED_PROXIES."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from redis import RedisError

from crawler import conf
from crawler.core.access.client_address import is_trusted, is_unnamed_proxy
from crawler.frontier import keys
from crawler.queueing import queues

SCHEME, ADDRESSES = "HTTP_X_FORWARDED_PROTO", "HTTP_X_FORWARDED_FOR"
NOTED_FOR_S = 24 * 3600
MAX_NOTED = 100  # proxies that a process logs

log = logging.getLogger(__name__)

_noted = set[str]()


class ForwardedHeaders:
    """The first middleware: drops X-Forwarded-Proto, by which a request counts as HTTPS, of a peer that is no trusted
    proxy. (X-Forwarded-For: `crawler.web.middleware.client_address`.)"""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        peer, trusted = request.META.get("REMOTE_ADDR", ""), conf.trusted_proxies()
        if (SCHEME in request.META or ADDRESSES in request.META) and not is_trusted(peer, trusted):
            request.META.pop(SCHEME, None)
            if is_unnamed_proxy(peer, trusted):
                _note(peer)
        return self._get_response(request)


def _note(peer: str) -> None:
    """Log it, once in the life of this process, and remember it for `check --deploy`."""
    if peer in _noted or len(_noted) >= MAX_NOTED:
        return
    _noted.add(peer)
    log.warning(
        "%s forwards requests, but is not in CRAWLER_TRUSTED_PROXIES: its X-Forwarded-For and X-Forwarded-Proto are "
        "ignored. If it is your proxy, add it.",
        peer,
    )
    try:
        queues.connection().set(keys.UNNAMED_PROXY, peer, ex=NOTED_FOR_S)
    except RedisError as error:
        log.debug("the proxy is not remembered, because Redis does not respond: %s", error)

"""How many workers would be useful, for autoscalers."""

from __future__ import annotations

from typing import Any

from crawler.accounts.permissions import visible_crawls
from crawler.api.callers import ApiRequest
from crawler.api.openapi import Operations
from crawler.api.schemas import scale as shapes
from crawler.core.access.permissions import Scope
from crawler.frontier.autoscalers import note_autoscaler_of_api
from crawler.queueing import queues
from crawler.reports import scale

router = Operations("workers")


@router.on("GET", "Get the number of useful workers", Scope.SCALE_READ, shapes.Scale, shapes.EXAMPLE)
def get_scale(request: ApiRequest) -> dict[str, Any]:
    """Over all crawls of this installation. Crawls you may not see are in the figure and in one line, without names.

    A token with this scope alone is taken for that of an autoscaler: while it asks, at least once a minute, pages and
    commands say that the first worker is being started."""
    found = scale.plain(scale.scale_of(scale.running_crawls()), visible_crawls(request.user))
    if request.caller is not None and request.caller.scopes == {Scope.SCALE_READ}:
        note_autoscaler_of_api(queues.connection())
    return found

"""How often one person may call. All their tokens share one count, so that making more tokens gives nothing more."""

from __future__ import annotations

import logging

from redis import RedisError

from crawler import conf, queues
from crawler.api.callers import Caller
from crawler.api.problems import Problem
from crawler.frontier.calls import WINDOW, count_call

log = logging.getLogger(__name__)


def counted(caller: Caller) -> dict[str, str]:
    """Count this call; the headers that tell how many are left, or Problem when none is.

    Two generations of one draft (draft-ietf-httpapi-ratelimit-headers): `RateLimit-Limit`, `-Remaining` and `-Reset` as
    clients read them today, `RateLimit-Policy` and `RateLimit` as it has them now. Without Redis nothing is counted:
    what the table can answer is answered.
    """
    limit = conf.api_per_minute()
    if limit == 0:
        return {}
    try:
        calls = count_call(queues.connection(), f"user:{caller.user.pk}")
    except RedisError as error:
        log.warning("a call of the API is not counted, because Redis does not answer: %s", error)
        return {}
    left = max(0, limit - calls.made)
    headers = {
        "RateLimit-Limit": str(limit),
        "RateLimit-Remaining": str(left),
        "RateLimit-Reset": str(calls.ends_in),
        "RateLimit-Policy": f'"minute";q={limit};w={WINDOW}',
        "RateLimit": f'"minute";r={left};t={calls.ends_in}',
    }
    if calls.made > limit:
        detail = f"More than {limit} calls within a minute; go on in {calls.ends_in} s."
        raise Problem(429, detail, headers={**headers, "Retry-After": str(calls.ends_in)})
    return headers

"""Whether Redis knows its clients."""

import pytest

from crawler.core.installation.deployment import is_guarded


@pytest.mark.parametrize(
    ("url", "guarded"),
    [
        ("redis://127.0.0.1:6379/0", False),
        ("redis://localhost", False),
        ("redis://user@10.0.0.1:6379/0", False),
        ("redis://:@127.0.0.1:6379/0", False),
        ("rediss://10.0.0.1:6379/0", False),
        ("redis://:secret@127.0.0.1:6379/0", True),
        ("redis://127.0.0.1:6379/0?password=secret", True),
        ("rediss://10.0.0.1:6379/0?ssl_certfile=/etc/me.pem", True),
        ("redis://10.0.0.1:6379/0?ssl_certfile=/etc/me.pem", False),
        ("unix:///run/redis/redis.sock?db=1", True),
        ("redis+sentinel://one:26379,[::1]:26379/mymaster", False),
        ("redis+sentinel://:secret@one:26379,[::1]:26379/mymaster", True),
        ("rediss+sentinel://one/mymaster?ssl_certfile=/etc/me.pem", True),
    ],
)
def test_whether_redis_asks_who_is_there(url: str, guarded: bool) -> None:
    assert is_guarded(url) is guarded

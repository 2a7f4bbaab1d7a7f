"""What is said of clocks that differ: which is off, and by how much."""

import pytest

from crawler.core.installation.deployment import Skew
from crawler.queueing.startup import skew_text


@pytest.mark.parametrize(
    ("redis", "database", "sentence"),
    [
        (0.0, 0.0, ""),
        (2.0, -2.0, ""),
        (None, None, ""),
        (600.2, None, "This machine's clock is 600.2 s ahead of Redis's."),
        (None, -7.0, "This machine's clock is 7.0 s behind the database's."),
        (600.2, 600.1, "This machine's clock is 600.2 s ahead of the clocks of Redis and the database."),
        (-600.0, 0.1, "Redis's clock is 600.0 s ahead of the clocks of this machine and the database."),
        (0.1, 600.0, "The database's clock is 600.0 s behind the clocks of this machine and Redis."),
        (600.0, -60.0, "This machine's clock is 600.0 s ahead of Redis's and 60.0 s behind the database's."),
    ],
)
def test_the_clock_that_is_off_is_named(redis: float | None, database: float | None, sentence: str) -> None:
    assert skew_text(Skew(redis=redis, database=database)) == sentence


def test_only_what_was_compared_is_known() -> None:
    assert Skew(redis=0.0).known == {"redis": 0.0}

"""Random calls by users of all kinds: no user reads rows of others, or has a private address requested without the
right to do so. See `tests.accounts.rights`."""

from typing import Any

import pytest

from tests.accounts.rights import a_world

CALLS = 35
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("real_redis")]


def test_no_call_gives_a_user_what_they_may_not_have(settings: Any) -> None:
    with a_world(1, settings) as world:  # it finds that links of added pages reach further, when nothing prevents it
        world.run(CALLS)


@pytest.mark.long
@pytest.mark.parametrize("seed", [3, *range(10, 30)])
def test_nor_does_any_of_many_more(seed: int, settings: Any) -> None:
    with a_world(seed, settings) as world:
        world.run(6 * CALLS)

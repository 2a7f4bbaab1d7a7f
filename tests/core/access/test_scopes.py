"""What tokens may do."""

import pytest

from crawler.core.access.permissions import DEFAULT_SCOPES, Scope, checked, held
from crawler.core.errors import BadInput


def test_scopes_come_once_each_in_their_order() -> None:
    assert checked(["crawls:write", "crawls:read", "crawls:write"]) == DEFAULT_SCOPES


@pytest.mark.parametrize("names", [[], ["crawls"], ["crawls:read", ""]])
def test_other_names_and_none_are_refused(names: list[str]) -> None:
    with pytest.raises(BadInput):
        checked(names)


def test_a_stored_name_of_another_version_allows_nothing() -> None:
    assert held(["crawls:read", "moon:fly"]) == {Scope.CRAWLS_READ}

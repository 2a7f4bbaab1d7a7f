"""People and browsers for the tests of the web pages; no Redis unless a test asks for one."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.factories import a_browser, a_person

NOWHERE = "redis://127.0.0.1:1/0"  # nothing listens on port 1, so this is a Redis that is down


@pytest.fixture(autouse=True)
def no_redis(settings: Any) -> None:
    """A Redis that happens to run on the developer's machine stays out of it; `real_redis` comes after this one."""
    settings.REDIS_URL = NOWHERE


@pytest.fixture
def ann(db: None) -> User:
    return a_person("ann")


@pytest.fixture
def root(db: None) -> User:
    return a_person("root", superuser=True)


@pytest.fixture
def bob(db: None) -> User:
    return a_person("bob")


@pytest.fixture
def as_ann(ann: User) -> Client:
    """A browser in which ann is logged in."""
    return a_browser(ann)


@pytest.fixture
def as_bob(bob: User) -> Client:
    """A browser in which bob is logged in, who has no part in what is ann's unless a test shares it with him."""
    return a_browser(bob)


@pytest.fixture
def as_root(root: User) -> Client:
    """A browser in which a superuser is logged in."""
    return a_browser(root)

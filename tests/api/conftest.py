"""Callers of the API for its tests: somebody with a token for everything, others with less; no Redis unless asked."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from crawler.core.scopes import Scope
from tests.api.calling import Caller, a_token
from tests.web.conftest import NOWHERE
from tests.web.factories import a_person


@pytest.fixture(autouse=True)
def no_redis(settings: Any) -> None:
    """`real_redis` comes after this one."""
    settings.REDIS_URL = NOWHERE


@pytest.fixture
def ann(db: None) -> User:
    return a_person("ann")


@pytest.fixture
def bob(db: None) -> User:
    return a_person("bob")


@pytest.fixture
def root(db: None) -> User:
    return a_person("root", superuser=True)


@pytest.fixture
def by_ann(ann: User) -> Caller:
    """Calls with a token of ann that may do everything."""
    return Caller(a_token(ann, *Scope))


@pytest.fixture
def by_bob(bob: User) -> Caller:
    return Caller(a_token(bob, *Scope))


@pytest.fixture
def by_root(root: User) -> Caller:
    return Caller(a_token(root, *Scope))


@pytest.fixture
def by_nobody(db: None) -> Caller:
    return Caller(None)

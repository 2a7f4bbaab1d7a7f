"""Callers of the API for its tests: somebody with a token for everything, others with less; no Redis unless asked."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User

from crawler.core.access.permissions import Scope
from tests import site
from tests.api.calling import Caller, a_token
from tests.browser.conftest import answers
from tests.conftest import free_port
from tests.factories import a_person
from tests.site import Site
from tests.stack import OWN_WORKER, Stack
from tests.web.conftest import ann, no_redis, root

__all__ = ["ann", "no_redis", "root"]


@pytest.fixture
def bob(db: None) -> User:
    return a_person("bob")


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


@pytest.fixture(scope="module")
def small_site() -> Iterator[Site]:
    pages = {"/": site.page("/a", "/missing"), "/a": site.page("/")}
    with Site(pages).serving() as served:
        yield served


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, redis_url: str, small_site: Site) -> Iterator[tuple[Stack, str]]:
    """A stack that crawls the small site, and its address; a token of ann is its TOKEN."""
    address = f"127.0.0.1:{free_port()}"
    stack = Stack(tmp_path_factory.mktemp("served"), redis_url, CRAWLER_PRIVATE_HOSTS=small_site.host)
    stack.redis.flushall()
    try:
        stack.spawn("gunicorn", "crawler.settings.wsgi", "--bind", address, "--threads", "8", "--no-control-socket")
        stack.spawn(*OWN_WORKER)
        stack.env["TOKEN"] = stack.within(lambda: a_token(a_person("ann"), *Scope))
        stack.wait_for(lambda: answers(int(address.rpartition(":")[2])))
        yield stack, f"http://{address}"
    finally:
        stack.end()

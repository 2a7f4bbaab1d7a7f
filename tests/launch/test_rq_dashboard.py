"""RQ's own dashboard, started by itself: who gets in, what other sites' pages can have it do, and that what jobs and
their errors say, which a site may have written, is shown as text."""

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import requests
from django.core.exceptions import ImproperlyConfigured
from redis import Redis
from rq_dashboard import web
from rq_dashboard.cli import make_flask_app
from rq_dashboard.web import setup_rq_connection

from crawler.launch.rq_dashboard import HEADERS, USER, check_version, connect
from tests.conftest import free_port
from tests.evil import TEXTS, a_failed_job
from tests.planted_jobs import plant
from tests.stack import Stack

SECRET = "only-for-tests"
PASSWORD = (USER, SECRET)


@pytest.fixture(scope="module")
def dashboard(redis_url: str) -> Iterator[Any]:
    app = make_flask_app(None, *PASSWORD, "")
    app.config["RQ_DASHBOARD_REDIS_URL"] = [redis_url]
    setup_rq_connection(app)
    return app


def test_another_version_does_not_start() -> None:
    check_version(version("rq-dashboard"))
    with pytest.raises(ImproperlyConfigured, match=r"0.9.1 is installed.* pip install rq-dashboard==0.9.0"):
        check_version("0.9.1")


def test_its_password_is_not_in_what_it_prints_or_in_its_arguments(tmp_path: Path, redis_url: str) -> None:
    stack, port = Stack(tmp_path, redis_url), free_port()
    stack.env["RQ_DASHBOARD_PORT"] = str(port)
    try:
        process = stack.spawn(sys.executable, "-m", "crawler.launch.rq_dashboard")
        stack.wait_for(lambda: status_of(port) == 401)
        password = (tmp_path / "dashboard_password").read_text().strip()
        assert status_of(port, password) == 200
        shown = subprocess.check_output(["ps", "-ww", "-o", "args=", "-p", str(process.pid)], text=True)
        assert password not in stack.log() + shown
        assert "rq_dashboard" in shown
    finally:
        stack.end()


def status_of(port: int, password: str = "") -> int:
    try:
        return requests.get(f"http://127.0.0.1:{port}/", auth=(USER, password), timeout=5).status_code
    except requests.ConnectionError:
        return 0


def test_it_connects_as_the_rest_of_the_project_does() -> None:
    assert web.from_url is connect
    given = connect("rediss+sentinel://me:p%40ss@one,two/crawls/3")[1].connection_pool.connection_kwargs
    assert [given[name] for name in ("username", "password", "db")] == ["me", "p@ss", 3]


def test_no_value_goes_into_a_page_as_markup(dashboard: Any) -> None:
    pages = dashboard.jinja_env
    sources = {name: pages.loader.get_source(pages, name)[0] for name in pages.list_templates()}
    lines = "\n".join(pages.preprocess(source, name) for name, source in sources.items()).split("\n")
    raw = [line for line in lines if "<%=" in line]
    assert sum(source.count("<%=") for source in sources.values()) > 30, "it has another way to make its pages now"
    assert [line for line in raw if not re.search(r"<%= \$\('<div/>'\)\.text\([\w.]+\)\.html\(\) %>", line)] == []


def test_a_job_is_data_until_the_page_has_escaped_it(dashboard: Any, redis_url: str) -> None:
    redis = Redis.from_url(redis_url)
    job = a_failed_job(redis)
    with dashboard.test_client() as browser:
        page = browser.get(f"/0/view/job/{job.id}", auth=PASSWORD)
        told = browser.get(f"/0/data/job/{job.id}.json", auth=PASSWORD)
    redis.close()
    assert TEXTS["html"] not in page.text
    assert (told.mimetype, TEXTS["html"] in told.json["exc_info"]) == ("application/json", True)


def test_it_shows_planted_jobs_and_makes_nothing_of_them(dashboard: Any, real_redis: Redis, tmp_path: Path) -> None:
    planted = plant(real_redis, tmp_path)
    with dashboard.test_client() as browser:
        assert browser.get("/0/data/jobs/crawl/queued/10/desc/1.json", auth=PASSWORD).status_code == 200
        shown = {name: browser.get(f"/0/data/job/{job.id}.json", auth=PASSWORD) for name, job in planted.items()}
    assert {name for name, page in shown.items() if page.status_code != 200} == {"meta"}
    assert "It contains posix.mkdir. Only plain values are read" in shown["meta"].text
    assert list(tmp_path.iterdir()) == []


def test_every_answer_has_security_headers(dashboard: Any) -> None:
    with dashboard.test_client() as browser:
        for answer in (browser.get("/"), browser.get("/", auth=PASSWORD)):
            assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS


OWN, FOREIGN = {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "cross-site"}


def test_without_the_password_nobody_gets_in(dashboard: Any) -> None:
    browser = dashboard.test_client()
    rules = [rule for rule in dashboard.url_map.iter_rules() if not rule.endpoint.endswith("static")]  # scripts, styles
    doors = {(method, re.sub("<.+?>", "0", rule.rule)) for rule in rules for method in rule.methods - {"OPTIONS"}}
    assert {("GET", "/"), ("GET", "/0/data/queues.json"), ("POST", "/queue/0/0/empty")} <= doors
    for auth in (None, ("admin", "wrong")):
        answers = {door: browser.open(door[1], method=door[0], auth=auth, follow_redirects=True) for door in doors}
        assert [door for door, answer in answers.items() if answer.status_code != 401] == []


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("POST", "/queue/fetch/queued/empty", OWN, 200),
        ("POST", "/queue/fetch/queued/empty", {}, 200),  # a program
        ("POST", "/queue/fetch/queued/empty", FOREIGN, 403),
        ("POST", "/queue/fetch/queued/empty", {"Sec-Fetch-Site": "same-site"}, 403),  # another port of this machine
        ("POST", "/queue/fetch/queued/empty", {"Origin": "https://evil.example"}, 403),
        ("POST", "/queue/fetch/queued/empty", {"Origin": "null"}, 403),
        ("POST", "/queue/fetch/queued/empty", {"Origin": "http://localhost"}, 200),
        ("GET", "/requeue/fetch", FOREIGN, 403),  # a picture's address would do
        ("GET", "/requeue/fetch", {**FOREIGN, "Sec-Fetch-Mode": "navigate"}, 403),
        ("GET", "/requeue/fetch", OWN, 200),
        ("GET", "/0/data/queues.json", FOREIGN, 403),
    ],
)
def test_a_page_of_another_site_has_it_do_nothing(
    dashboard: Any, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    browser = dashboard.test_client()
    assert browser.open(path, method=method, headers=headers, auth=PASSWORD).status_code == status

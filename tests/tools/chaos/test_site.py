"""The site of a chaos run is always the same, and remembers who asked for what."""

from __future__ import annotations

import time
from pathlib import Path
from urllib.request import urlopen

from tools.chaos.expected import walked
from tools.chaos.site import Site, folder, generated


def test_a_busy_page_answers_the_second_time() -> None:
    content = generated(pages=100)
    assert content("/busy/61", 0).status == 503
    assert content("/busy/61", 1).status == 200


def test_every_answer_of_the_generated_site_comes_again() -> None:
    first, second = generated(pages=100), generated(pages=100)
    paths = ["/", "/page/1", "/page/99", "/moved/17", "/missing/29", "/robots.txt"]
    assert [first(path, 0) for path in paths] == [second(path, 0) for path in paths]
    assert [first(path, 0).status for path in paths] == [200, 200, 200, 301, 404, 200]


def test_a_folder_is_served_as_a_plain_web_server_does(tmp_path: Path) -> None:
    (tmp_path / "part").mkdir()
    (tmp_path / "index.html").write_text("home")
    (tmp_path / "part" / "a page.css").write_text("style")
    content = folder(tmp_path)
    assert content("/", 0).body == content("/index.html", 0).body == b"home"
    assert content("/part/a%20page.css", 0).headers["Content-Type"] == "text/css"
    assert content("/part/../../secret", 0).status == 404


def test_requests_are_remembered_until_the_next_run() -> None:
    with Site(generated(pages=10), latency=0.0).serving() as site:
        began = time.time()
        urlopen(f"{site.origin}/").close()
        between = time.time()
        urlopen(f"{site.origin}/page/3?again").close()
        assert site.hits == {"/": 1, "/page/3": 1}
        assert site.done == {"/", "/page/3"}
        after_all, after_one = site.first_request(began), site.first_request(between)
        assert after_all is not None
        assert after_one is not None
        assert (after_all.path, after_one.path) == ("/", "/page/3")
        assert site.first_request(began, {"/page/4"}) is None
        site.forget()
        assert not site.hits


def test_the_generated_site_has_something_of_everything() -> None:
    site, content = Site(generated(pages=150), latency=0.0), generated(pages=150)
    with site.serving():
        expected = walked(site, content)
    kinds = set(expected.pages.values())
    assert kinds == {("2xx", 200), ("3xx", 301), ("3xx", 302), ("4xx", 404), ("robots", None)}
    assert sum(path.startswith(f"{site.origin}/page/") for path in expected.pages) == 149  # and the first is "/"
    assert expected.hits["/busy/61"] == 2
    assert not any(path.startswith("/private/") for path in expected.hits)

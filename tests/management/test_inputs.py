"""Credentials of `crawl`: in full, or hidden from process lists."""

from argparse import ArgumentParser
from pathlib import Path

import pytest

from crawler.core.access.credentials import Credentials, masked
from crawler.core.errors import BadInput
from crawler.management.inputs import add_secrets, credentials_of


def typed(*arguments: str) -> Credentials:
    parser = ArgumentParser()
    add_secrets(parser)
    return credentials_of(vars(parser.parse_args(arguments)))


def test_they_are_taken_as_typed() -> None:
    known = typed("--header", "X-Key: a", "--header", "X-Other: b", "--cookie", "a=1; b=2", "--auth", "user:pw")
    assert known.headers == (("X-Key", "a"), ("X-Other", "b"))
    assert known.cookies == (("a", "1"), ("b", "2"))
    assert known.basic == ("user", "pw")
    assert typed("--bearer", "abc", "--proxy", "proxy.test:3128").proxy == "http://proxy.test:3128"
    assert typed("--proxy", "a.test", "--proxy", "b.test").proxies == ("http://a.test:80", "http://b.test:80")
    assert not typed()


def test_a_file_may_hold_them(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("user:pass word\n")
    (tmp_path / "headers").write_text("X-Key: a\r\n\nX-Other: b\n")
    known = typed("--auth", f"@{tmp_path}/password", "--header", f"@{tmp_path}/headers", "--header", "X-More: c")
    assert known.basic == ("user", "pass word")
    assert known.headers == (("X-Key", "a"), ("X-Other", "b"), ("X-More", "c"))


def test_the_environment_may_hold_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITE_TOKEN", "abc")
    monkeypatch.setenv("SITE_COOKIES", "a=1; b=2")
    known = typed("--bearer", "env:SITE_TOKEN", "--cookie", "env:SITE_COOKIES")
    assert (known.bearer, known.cookies) == ("abc", (("a", "1"), ("b", "2")))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--auth", "env:NOT_THERE"], "the environment variable NOT_THERE is not set"),
        (["--auth", "@/not/there"], "--auth @/not/there: the file cannot be read: No such file"),
        (["--auth", "@/"], "the file cannot be read"),
        (["--header", "X-Key: a\r\nX-Other: b"], "line break"),
        (["--header", "Host: evil.test"], "cannot be set"),
    ],
)
def test_what_cannot_be_used_is_named(arguments: list[str], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        typed(*arguments)


def test_a_file_that_is_no_text_is_named_and_not_shown(tmp_path: Path) -> None:
    (tmp_path / "password").write_bytes(b"\xff\xfehidden")
    with pytest.raises(BadInput, match="not text in UTF-8") as caught:
        typed("--auth", f"@{tmp_path}/password")
    assert "hidden" not in str(caught.value)


def test_a_user_called_env_is_possible() -> None:
    assert masked(typed("--auth", "env:not a variable")) == ("Authorization: Basic env:no…(14 characters)",)

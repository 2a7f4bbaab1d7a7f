"""Settings from the environment: an invalid value is named, and a secret is generated once."""

import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from crawler import extras
from crawler.core.urls.addresses import DEFAULT_PORTS, Proxy
from crawler.settings import environment
from tests.missing import have_all, leave_out

PRIVATE = {"file_permissions_mode": 0o600, "directory_permissions_mode": 0o700}


def test_a_secret_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    secret = environment.kept_secret(file)
    assert len(secret) >= 48
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert environment.kept_secret(file) == secret
    assert list(tmp_path.iterdir()) == [file]


def test_processes_that_need_a_secret_at_once_agree_on_it(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    with get_context("spawn").Pool(4) as pool:
        secrets = pool.map(environment.kept_secret, [file] * 8)
    assert set(secrets) == {file.read_text()}
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("REDIS_URL", "localhost:6379", r"REDIS_URL is .*must begin with redis://"),
        ("REDIS_URL", "http://127.0.0.1:6379", r"REDIS_URL is .*must begin with redis://"),
        ("DATABASE_URL", "bogus", r"DATABASE_URL cannot be read.*Examples: sqlite:"),
        ("DATABASE_URL", "nosuchdb://host/name", r"DATABASE_URL cannot be read.*Examples: sqlite:"),
        ("DATABASE_URL", "postgres://host/name?pool_mode=statement", r"statement.*transaction or session.*cannot"),
        ("EMAIL_URL", "bogus", r"EMAIL_URL cannot be read.*Examples: smtp"),
        ("EMAIL_URL", "nosuch://host", r"EMAIL_URL cannot be read.*Examples: smtp"),
        ("CRAWLER_CONTACT", "https://b\u00fccher.example/", "CRAWLER_CONTACT"),
        ("CRAWLER_MAX_BATCHES", "many", r"^CRAWLER_MAX_BATCHES is 'many'; it must be a number, such as 128\.$"),
        ("CRAWLER_MAX_BATCHES", "0", r"^CRAWLER_MAX_BATCHES is 0; it must be 1 or more\.$"),
        ("CRAWLER_MAX_BATCHES", "nan", r"^CRAWLER_MAX_BATCHES is nan; it must be 1 or more\.$"),
        ("CRAWLER_MAX_BATCHES", "10001", r"^CRAWLER_MAX_BATCHES is 10001; it must be 10000 or less\.$"),
        ("CRAWLER_LOG_FORMAT", "xml", r"CRAWLER_LOG_FORMAT is 'xml'; it must be one of: text, json"),
        ("CRAWLER_CONTENT_STORAGE", "/srv?file_permissions_mode=rw", "such as 640"),
        ("CRAWLER_CONTENT_STORAGE", "bucket", "must be a folder"),
        ("CRAWLER_CONTENT_STORAGE", "ftp://host/path", "must be a folder"),
        ("CRAWLER_PORTS", "80,25", r"CRAWLER_PORTS cannot be used\. Browsers refuse port 25"),
    ],
)
def test_a_value_that_cannot_be_used_is_named(
    variable: str, value: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: dict[str, Callable[[], object]] = {
        "REDIS_URL": environment.redis_url,
        "DATABASE_URL": partial(environment.database, Path("db.sqlite3")),
        "EMAIL_URL": environment.email,
        "CRAWLER_CONTACT": partial(environment.header_text, variable),
        "CRAWLER_MAX_BATCHES": partial(environment.number, variable, 128, least=1, most=10_000),
        "CRAWLER_LOG_FORMAT": partial(environment.choice, variable, "text", ("text", "json")),
        "CRAWLER_CONTENT_STORAGE": partial(environment.content_storage, Path("/default")),
        "CRAWLER_PORTS": partial(environment.ports, variable),
    }
    have_all(monkeypatch)
    monkeypatch.setenv(variable, value)
    with pytest.raises(ImproperlyConfigured, match=said):
        read[variable]()


def test_content_on_s3_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAWLER_CONTENT_STORAGE", "s3://bucket")
    leave_out(monkeypatch, extras.S3)
    with pytest.raises(ImproperlyConfigured, match="django-storages"):
        environment.content_storage(Path("/default"))


def test_without_one_it_is_the_socket_in_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REDIS_URL", raising=False)
    monkeypatch.setenv("CRAWLER_DATA_DIR", str(tmp_path / "the data"))
    assert environment.redis_url() == f"unix://{tmp_path}/the%20data/redis/redis.sock"
    assert stat.S_IMODE((tmp_path / "the data").stat().st_mode) == 0o700


def modes(*paths: Path) -> list[int]:
    return [stat.S_IMODE(path.stat().st_mode) for path in paths]


def test_a_data_folder_of_an_earlier_version_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / "data"
    database, content, dump = data / "db.sqlite3", data / "content", data / "redis" / "dump.rdb"
    for folder in (content, dump.parent):
        folder.mkdir(parents=True)
    for file in (database, dump):
        file.touch()
    for path, mode in ((data, 0o755), (content, 0o755), (dump.parent, 0o755), (database, 0o644), (dump, 0o644)):
        path.chmod(mode)
    monkeypatch.setenv("CRAWLER_DATA_DIR", str(data))
    environment.data_dir()
    assert modes(data, content, dump.parent, database, dump) == [0o700, 0o700, 0o700, 0o600, 0o600]


def test_a_folder_like_tmp_is_not_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o1777)
    monkeypatch.setenv("CRAWLER_DATA_DIR", str(tmp_path))
    environment.data_dir()
    assert tmp_path.stat().st_mode & 0o7777 == 0o1777


@pytest.fixture
def long_path(tmp_path: Path) -> Iterator[Path]:
    """A data folder in which no socket has a path that is short enough."""
    path = tmp_path / ("a-long-name-" * 12)
    path.mkdir()
    yield path
    shutil.rmtree(environment.embedded_socket(path).parent)


def test_a_path_that_is_too_long_for_a_socket_becomes_a_private_folder(long_path: Path) -> None:
    socket = environment.embedded_socket(long_path)
    assert socket == environment.embedded_socket(long_path)
    assert (len(str(socket)) <= 103, stat.S_IMODE(socket.parent.stat().st_mode)) == (True, 0o700)


def test_a_folder_for_the_socket_that_others_can_enter_is_refused(long_path: Path) -> None:
    folder = environment.embedded_socket(long_path).parent
    folder.chmod(0o755)
    with pytest.raises(ImproperlyConfigured, match="is not a folder of this user with the permissions 0700"):
        environment.embedded_socket(long_path)
    folder.chmod(0o700)


def test_postgres_without_its_driver_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://user:secret@host/name")
    leave_out(monkeypatch, extras.POSTGRES)
    monkeypatch.setitem(sys.modules, "psycopg2", None)
    with pytest.raises(ImproperlyConfigured, match=r"pip install") as refused:
        environment.database(tmp_path / "db.sqlite3")
    assert "secret" not in str(refused.value)


def test_a_postgres_that_vanished_is_given_up_soon_unless_its_address_says_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    have_all(monkeypatch)
    monkeypatch.setenv("DATABASE_URL", "postgres://user:secret@host/name")
    options = environment.database(tmp_path / "db.sqlite3")["OPTIONS"]
    asked = options["keepalives_idle"] + options["keepalives_interval"] * options["keepalives_count"]
    assert max(asked, options["connect_timeout"], options["tcp_user_timeout"] / 1000) < 25
    monkeypatch.setenv("DATABASE_URL", "postgres://user:secret@host/name?connect_timeout=60&sslmode=require")
    chosen = environment.database(tmp_path / "db.sqlite3")["OPTIONS"]
    assert chosen == {**options, "connect_timeout": 60, "sslmode": "require"}


@pytest.mark.parametrize(
    ("query", "expected"), [("", False), ("?pool_mode=session", False), ("?pool_mode=transaction", True)]
)
def test_with_a_pooler_by_transaction_no_cursor_outlasts_one(
    query: str, expected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    have_all(monkeypatch)
    monkeypatch.setenv("DATABASE_URL", f"postgres://user:secret@host/name{query}")
    found = environment.database(tmp_path / "db.sqlite3")
    assert found["DISABLE_SERVER_SIDE_CURSORS"] == expected
    assert "pool_mode" not in found["OPTIONS"]  # libpq would refuse it


def test_a_data_folder_that_cannot_be_made_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("CRAWLER_DATA_DIR", str(tmp_path / "file" / "data"))
    with pytest.raises(ImproperlyConfigured, match=r"cannot be created .*CRAWLER_DATA_DIR"):
        environment.data_dir()


def test_a_data_folder_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAWLER_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere: ask as if we were not
    with pytest.raises(ImproperlyConfigured, match=r"is not writable.*CRAWLER_DATA_DIR"):
        environment.data_dir()


def test_every_setting_in_the_example_file_is_one_that_is_read() -> None:
    example = (environment.ROOT / ".env.example").read_text()
    named = {line[1:].partition("=")[0] for line in example.splitlines() if line.startswith("#") and "=" in line[:40]}
    sources = "".join(file.read_text() for file in (environment.ROOT / "crawler" / "settings").glob("*.py"))
    assert named
    assert {name for name in named if f'"{name}"' not in sources} == set()


def test_a_proxy_is_read_and_its_password_shown_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAWLER_PROXY", "http://user:hidden@proxy.test:3128")
    proxy = environment.proxy("CRAWLER_PROXY")
    assert proxy == Proxy("proxy.test", 3128, "user", "hidden")
    assert "hidden" not in repr(proxy)
    monkeypatch.setenv("CRAWLER_PROXY", " ")
    assert environment.proxy("CRAWLER_PROXY") is None


@pytest.mark.parametrize(("value", "said"), [("socks4://u:hidden@p.test", "SOCKS"), ("ftp://u:hidden@p", "http://")])
def test_a_proxy_that_cannot_be_used_stops_the_start(monkeypatch: pytest.MonkeyPatch, value: str, said: str) -> None:
    monkeypatch.setenv("CRAWLER_PROXY", value)
    with pytest.raises(ImproperlyConfigured, match=said) as caught:
        environment.proxy("CRAWLER_PROXY")
    assert str(caught.value).startswith("CRAWLER_PROXY cannot be used.")
    assert "hidden" not in str(caught.value)


def test_one_of_a_few_words_is_read_whatever_its_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAWLER_LOG_FORMAT", " JSON ")
    assert environment.choice("CRAWLER_LOG_FORMAT", "text", ("text", "json")) == "json"
    monkeypatch.delenv("CRAWLER_LOG_FORMAT")
    assert environment.choice("CRAWLER_LOG_FORMAT", "text", ("text", "json")) == "text"


@pytest.mark.parametrize(
    ("value", "backend", "options"),
    [
        ("", environment.FILES, {"location": "/default", **PRIVATE}),
        ("/srv/content", environment.FILES, {"location": "/srv/content", **PRIVATE}),
        (
            "/srv/content?file_permissions_mode=640&directory_permissions_mode=750",
            environment.FILES,
            {"location": "/srv/content", "file_permissions_mode": 0o640, "directory_permissions_mode": 0o750},
        ),
        (
            "s3://bucket/some/prefix?endpoint_url=https://s3.test&region_name=eu",
            environment.S3,
            {
                "bucket_name": "bucket",
                "location": "some/prefix",
                "file_overwrite": False,
                "endpoint_url": "https://s3.test",
                "region_name": "eu",
            },
        ),
        ("my.module.Storage?a=b", "my.module.Storage", {"a": "b"}),
    ],
)
def test_content_is_kept_where_it_is_said(
    monkeypatch: pytest.MonkeyPatch, value: str, backend: str, options: dict[str, object]
) -> None:
    monkeypatch.setenv("CRAWLER_CONTENT_STORAGE", value)
    have_all(monkeypatch)
    assert environment.content_storage(Path("/default")) == {"BACKEND": backend, "OPTIONS": options}


@pytest.mark.parametrize(("value", "ports"), [("80, 9000", {80, 9000}), ("", DEFAULT_PORTS), (" ", DEFAULT_PORTS)])
def test_ports_are_given_by_commas(monkeypatch: pytest.MonkeyPatch, value: str, ports: object) -> None:
    monkeypatch.setenv("CRAWLER_PORTS", value)
    assert environment.ports("CRAWLER_PORTS") == ports


def test_a_value_may_be_in_a_file_and_its_newline_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "secret"
    file.write_text("swordfish\n")
    monkeypatch.setenv("SECRET_KEY", "of the environment")
    monkeypatch.setenv("SECRET_KEY_FILE", str(file))
    assert environment.secret_key(None) == "swordfish"


def test_the_addresses_of_services_may_be_in_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "DATABASE_URL": "postgres://user:secret@host/name",
        "REDIS_URL": "redis://:secret@host:6379/0",
        "EMAIL_URL": "smtp+tls://user:secret@host:587",
    }
    for name, value in values.items():
        (tmp_path / name).write_text(f"{value}\n")
        monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv(f"{name}_FILE", str(tmp_path / name))
    assert environment.database(tmp_path / "db.sqlite3")["NAME"] == "name"
    assert environment.redis_url() == values["REDIS_URL"]
    assert environment.email()["EMAIL_HOST_PASSWORD"] == "secret"


@pytest.mark.parametrize(
    ("content", "reason"),
    [(None, "cannot be read: No such file"), (b" \n", "is empty"), (b"\xff\xfe", "cannot be read: it is not UTF-8")],
    ids=["missing", "empty", "binary"],
)
def test_a_file_without_a_value_is_named(
    content: bytes | None, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "secret"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setenv("SECRET_KEY_FILE", str(file))
    with pytest.raises(ImproperlyConfigured, match=f"SECRET_KEY_FILE is .*{reason}") as refused:
        environment.secret_key(tmp_path)
    assert "\n" not in str(refused.value)


def test_a_program_that_cannot_be_started_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "chromium"
    program.touch()
    monkeypatch.setenv("CRAWLER_CHROMIUM", str(program))
    with pytest.raises(ImproperlyConfigured, match=r"CRAWLER_CHROMIUM is .*/usr/bin/chromium"):
        environment.program("CRAWLER_CHROMIUM")
    program.chmod(0o755)
    assert environment.program("CRAWLER_CHROMIUM") == str(program)

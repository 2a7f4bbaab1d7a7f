"""Messages of the commands if Redis or the database does not answer; run as processes, because both are global."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import free_port
from tests.stack import new_database

URL = "http://127.0.0.1:8/"


def manage(data: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """`manage.py` with a database of its own, and a Redis address where nobody listens."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "crawler.settings.test",
        "CRAWLER_DATA_DIR": str(data),
        "DATABASE_URL": f"sqlite:///{data}/db.sqlite3",
        "REDIS_URL": f"redis://127.0.0.1:{free_port()}/0",
    }
    command = [sys.executable, "manage.py", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.long
def test_without_redis_nothing_is_started_and_one_line_says_so(tmp_path: Path) -> None:
    (tmp_path / "db.sqlite3").write_bytes(new_database())
    crawl = manage(tmp_path, "crawl", URL, "--allow-private", "--json")
    assert (crawl.returncode, crawl.stdout) == (1, "")
    assert crawl.stderr.startswith("Redis does not respond")
    assert crawl.stderr.count("\n") == 1
    assert manage(tmp_path, "status", "--json").stdout == "[]\n"


@pytest.mark.parametrize(
    "words",
    [
        ("status",),
        pytest.param(
            ("export", "5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5", "--format", "csv"), id="export", marks=pytest.mark.long
        ),
    ],
)
def test_a_database_without_tables_gets_one_line_that_says_what_to_do(words: tuple[str, ...], tmp_path: Path) -> None:
    asked = manage(tmp_path, *words)
    assert (asked.returncode, asked.stdout) == (1, "")
    assert asked.stderr.startswith("The database is not set up (no such table: ")
    assert asked.stderr.endswith("python manage.py migrate\n")
    assert asked.stderr.count("\n") == 1


def test_reconcile_without_redis_says_so_in_one_line(tmp_path: Path) -> None:
    asked = manage(tmp_path, "reconcile")
    assert asked.returncode == 1
    assert asked.stderr.startswith("Redis does not respond")
    assert asked.stderr.count("\n") == 1

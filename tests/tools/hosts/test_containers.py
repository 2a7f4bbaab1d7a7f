"""What a container runs is read from the files that ship, and it sees nothing but what is in the image."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.hosts.containers import ROOT, copied_files, image_environment, read_container, secret_files
from tools.hosts.deployed import environment_of
from tools.hosts.network import Unavailable, check_usable

GIVEN = environment_of("postgres://a", "redis://b", Path("/unused"))


def test_a_service_is_read_as_compose_has_it() -> None:
    unit = read_container("worker", Path("/image"), GIVEN)
    assert unit.command == ("/app/deploy/container/start", "worker")
    assert (unit.root, unit.directory) == ("/image", "/app")
    assert (unit.restart, unit.kill_mode, unit.kill_signal) == ("always", "mixed", "SIGTERM")
    assert unit.stop_seconds == 12.0


def test_settings_are_those_of_the_image_the_file_and_the_operator() -> None:
    variables = dict(read_container("web", Path("/image"), {**GIVEN, "CRAWLER_WORKER_JOBS": "7"}).environment)
    assert variables["CRAWLER_ALIVE_FILE"] == "/tmp/alive"  # noqa: S108 (in the image)
    assert variables["DATABASE_URL_FILE"] == "/run/secrets/database_url"
    assert variables["ALLOWED_HOSTS"] == "*"
    assert variables["CRAWLER_PRIVATE_HOSTS"] == ""
    assert variables["CRAWLER_WORKER_JOBS"] == "7"
    assert not {"DATABASE_URL", "SECRET_KEY"} & variables.keys()


def test_another_command_may_be_given() -> None:
    unit = read_container("worker", Path("/image"), GIVEN, ["autoscale", "--max", "2"])
    assert unit.command[1:] == ("autoscale", "--max", "2")


def test_secrets_are_in_files() -> None:
    files = secret_files("worker", GIVEN)
    assert files["database_url"] == "postgres://a"
    assert set(files) == {"secret_key", "database_url", "redis_url", "webhook_secret", "metrics_token"}


def test_the_image_is_read() -> None:
    copied = {there: here for here, there in copied_files()}
    assert copied["/app/manage.py"] == ROOT / "manage.py"
    assert copied["/app/deploy/container/start"] == ROOT / "deploy" / "container" / "start"
    assert image_environment()["PATH"].startswith("/venv/bin:/")


def test_a_container_sees_the_image_and_none_of_the_rest(tmp_path: Path) -> None:
    try:
        check_usable()
    except Unavailable as error:
        pytest.skip(str(error))
    folders = [tmp_path / name for name in ("root", "data", "secrets")]
    for folder in folders[1:]:
        folder.mkdir()
    (folders[2] / "secret_key").write_text("a secret")
    shown = Path(sys.prefix)
    script = f"""
import os
from pathlib import Path
from tools.hosts.containers import make_root
make_root(*map(Path, {[str(folder) for folder in folders]}), [Path({str(shown)!r})])
os.chroot({str(folders[0])!r})
os.chdir("/app")
assert sorted(os.listdir()) == ["crawler", "deploy", "manage.py", "settings"], os.listdir()
assert Path("/run/secrets/secret_key").read_text() == "a secret"
Path("/data/kept").touch()
assert not Path({str(ROOT / "tests")!r}).exists()
try:
    Path("/app/manage.py").write_text("")
except OSError as error:
    print(error.strerror)
os.execv("/app/deploy/container/start", ["start"])
"""
    command = ["unshare", "--mount", sys.executable, "-P", "-c", script]
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "Read-only file system\n", done.stderr
    assert "Name what to run: web, worker, clock" in done.stderr
    assert (folders[1] / "kept").exists()
    assert not list(folders[0].iterdir())  # here nothing is mounted

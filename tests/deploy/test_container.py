"""The container image and deploy/compose.yaml: what they name exists, and no secret gets into the image."""

import json
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from crawler.capabilities.browser.rules import MAX_BROWSER_MB
from crawler.launch import alive as check
from crawler.launch.web_worker import MAX_UPLOADS
from crawler.management.parsers import parser_of
from crawler.queueing import alive

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
CONTAINERFILE = (DEPLOY / "Containerfile").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
START = DEPLOY / "container" / "start"
GUIDE = (ROOT / "docs" / "containers.md").read_text()
SETTINGS = (ROOT / "docs" / "settings.md").read_text()
IMAGES = {"site-crawler": "crawler", "site-crawler-browser": "browser"}  # name -> target of the Containerfile
OURS = {name: service for name, service in COMPOSE["services"].items() if service["image"] in IMAGES}
SECCOMP = DEPLOY / "container" / "chromium-seccomp.json"


def ignored() -> list[str]:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def started(*arguments: str) -> list[str]:
    """What the start script would execute, word by word."""
    script = START.read_text().replace("exec ", "printf '%s\\n' ").replace("cd /app", "")
    done = subprocess.run(["sh", "-c", script, "start", *arguments], check=True, capture_output=True, text=True)
    return done.stdout.split()


def test_only_what_is_copied_may_get_into_the_image() -> None:
    assert ignored()[0] == "*"
    allowed = {line.removeprefix("!") for line in ignored() if line.startswith("!")}
    copied = [shlex.split(line)[1:-1] for line in CONTAINERFILE.splitlines() if line.startswith("COPY ")]
    sources = {source for words in copied for source in words if not source.startswith("/") and words[0][0] != "-"}
    assert all((ROOT / source).exists() for source in sources)
    assert {source for source in sources if not source.startswith("deploy/container")} == allowed - {"deploy/container"}


def test_the_packages_of_the_image_are_pinned() -> None:
    lines = (DEPLOY / "container" / "requirements.txt").read_text().splitlines()
    assert all(line.startswith(("#", "-r ")) or "==" in line for line in lines)
    pinned = next(line.partition("==")[2] for line in lines if line.startswith("psycopg"))
    assert f"psycopg=={pinned}" in (ROOT / "requirements-dev.txt").read_text().splitlines()


def test_the_image_runs_as_nobody_and_as_process_1_has_one_that_hands_on_signals() -> None:
    users = [re.findall(r"^USER (.*)$", stage, re.MULTILINE) for stage in CONTAINERFILE.split("\nFROM ")[1:]]
    assert [found[-1] for found in users if found] == ["10001:10001"] * len(IMAGES)
    assert 'ENTRYPOINT ["/usr/bin/tini", "--", "/app/deploy/container/start"]' in CONTAINERFILE
    assert os.access(START, os.X_OK)


def test_the_web_process_is_that_of_the_procfile_but_for_its_address() -> None:
    procfile = (ROOT / "Procfile").read_text().splitlines()[0].removeprefix("web: ").split()
    folder = started("web")[started("web").index("--worker-tmp-dir") + 1]
    own = {"127.0.0.1:${PORT:-8000}", "0.0.0.0:8000", "--worker-tmp-dir", folder}
    assert [word for word in started("web") if word not in own] == [word for word in procfile if word not in own]


def test_every_service_has_a_limit_of_memory_and_of_what_it_keeps_there() -> None:
    services = COMPOSE["services"].values()
    assert all("mem_limit" in service for service in services)
    assert all(":size=" in folder for service in services for folder in service.get("tmpfs", []))


def test_the_files_that_arrive_at_a_time_fit_into_memory() -> None:
    web = COMPOSE["services"]["web"]
    upload_mb = int(re.findall(r"\d+", web["environment"]["CRAWLER_UPLOAD_MB"])[0])
    folder_mb = int(re.findall(r"size=(\d+)m", web["tmpfs"][0])[0])
    assert MAX_UPLOADS * upload_mb <= folder_mb
    assert folder_mb + 400 <= int(web["mem_limit"].removesuffix("m"))


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["worker", "--burst"], "python -P -m crawler.launch.worker --burst"),
        (["worker", "--render"], "python -P -m crawler.launch.worker --render"),
        (["clock"], "python manage.py clock"),
        (["migrate", "--noinput"], "python manage.py migrate --noinput"),
        (["crawl", "https://example.com/a b"], "python manage.py crawl https://example.com/a b"),
    ],
)
def test_the_first_argument_names_the_process(arguments: list[str], command: str) -> None:
    assert started(*arguments) == command.split()


def test_without_an_argument_it_says_what_there_is() -> None:
    done = subprocess.run([START], check=False, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 2 or "can't cd" in done.stderr  # there is no /app outside of the image
    assert "web, worker, clock, migrate" in START.read_text()


def test_every_service_of_ours_is_confined() -> None:
    for service in OURS.values():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"][0] == "no-new-privileges:true"
        assert float(service["stop_grace_period"].removesuffix("s")) > 10


def test_nothing_is_reached_from_other_machines() -> None:
    ports = [port for service in COMPOSE["services"].values() for port in service.get("ports", ())]
    assert ports == ["127.0.0.1:${PORT:-8000}:8000"]


def test_every_service_has_a_process_and_waits_for_what_it_needs() -> None:
    assert {name: service["command"][0] for name, service in OURS.items()} == {
        **{name: name for name in ("migrate", "web", "clock", "worker")},
        "browser": "worker",
    }
    for name in ("web", "clock", "worker", "browser"):
        assert OURS[name]["depends_on"]["migrate"]["condition"] == "service_completed_successfully"
        assert "healthcheck" in OURS[name]


def test_one_service_builds_each_image_and_none_pulls_it() -> None:
    building = {name: service for name, service in OURS.items() if "build" in service}
    assert list(building) == ["migrate", "browser"]
    assert {service["image"]: service["build"]["target"] for service in building.values()} == IMAGES
    assert {service["pull_policy"] for service in OURS.values()} == {"never"}


def test_the_image_that_is_built_without_a_target_has_no_browser() -> None:
    stages = re.findall(r"^FROM (\S+)(?: AS (\S+))?$", CONTAINERFILE, re.MULTILINE)
    assert ("crawler", "browser") in stages
    assert stages[-1] == ("crawler", "")
    crawler, _, browser = CONTAINERFILE.partition("\nFROM crawler AS browser")
    for name in ("chromium-headless-shell", "requirements-browser.txt"):
        assert name in browser
        assert name not in crawler


# Browser workers.


def test_browser_workers_are_started_by_those_who_want_them() -> None:
    assert {name: service["profiles"] for name, service in OURS.items() if "profiles" in service} == {
        "browser": ["browser"]
    }
    browser = OURS["browser"]
    assert browser["command"] == ["worker", "--render"]
    assert parser_of("worker", "bin/worker").parse_args(browser["command"][1:]).render
    assert browser["environment"] == OURS["worker"]["environment"]


def test_browser_workers_have_memory_for_chromium_and_what_it_shares() -> None:
    browser = OURS["browser"]
    in_memory = int(browser["tmpfs"][0].partition("size=")[2].removesuffix("g")) * 1000
    assert int(browser["mem_limit"].removesuffix("g")) * 1000 >= MAX_BROWSER_MB + in_memory


def test_chromium_has_the_user_namespaces_of_its_sandbox_and_loses_the_rest() -> None:
    option = OURS["browser"]["security_opt"][1]
    assert DEPLOY / option.removeprefix("seccomp=${COMPOSE_PROJECT_DIR:-.}/") == SECCOMP
    profile = json.loads(SECCOMP.read_text())
    refused = {name for rule in profile["syscalls"] if "args" not in rule for name in rule["names"]}
    assert {rule["action"] for rule in profile["syscalls"]} == {"SCMP_ACT_ERRNO"}
    assert len(refused) == sum(len(rule["names"]) for rule in profile["syscalls"] if "args" not in rule)
    assert not refused & {"clone", "clone3", "unshare", "chroot", "seccomp", "prctl"}
    assert refused >= {"mount", "bpf", "keyctl", "kexec_load", "init_module", "io_uring_setup", "setns", "reboot"}


def test_every_variable_is_a_setting() -> None:
    for name in OURS["web"]["environment"]:
        assert f"`{name.removesuffix('_FILE')}`" in SETTINGS


def test_every_secret_is_a_file_that_the_script_makes() -> None:
    made = re.findall(r"^make (\w+)", (DEPLOY / "container" / "secrets").read_text(), re.MULTILINE)
    assert {Path(secret["file"]).name for secret in COMPOSE["secrets"].values()} <= set(made)
    for service in COMPOSE["services"].values():
        used = {Path(value).name for name, value in service.get("environment", {}).items() if name.endswith("_FILE")}
        assert used <= set(service.get("secrets", ()))


def test_secrets_are_random_for_their_user_alone_and_made_once(tmp_path: Path) -> None:
    script = tmp_path / "deploy" / "container" / "secrets"
    script.parent.mkdir(parents=True)
    script.write_text((DEPLOY / "container" / "secrets").read_text())
    folder = tmp_path / "deploy" / "secrets"
    contents = []
    for _ in range(2):
        subprocess.run(["sh", script], check=True, capture_output=True)
        contents.append({file.name: file.read_text() for file in folder.iterdir()})
    assert contents[0] == contents[1]
    assert folder.stat().st_mode & 0o777 == 0o700
    password = contents[0]["database_password"].strip()
    assert re.fullmatch(r"[0-9a-f]{64}", password)
    assert contents[0]["database_url"] == f"postgres://crawler:{password}@postgresql/crawler\n"


def test_the_folder_of_the_secrets_is_in_no_commit() -> None:
    assert "/deploy/secrets/" in (ROOT / ".gitignore").read_text().splitlines()


@pytest.mark.parametrize("words", ["up --build -d", "up -d --scale worker=4", "--profile browser up --build -d"])
def test_the_guide_has_the_commands(words: str) -> None:
    assert f"docker compose -f deploy/compose.yaml {words}" in GUIDE


def checked(file: Path) -> int:
    environment = {**os.environ, alive.FILE: str(file), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "crawler.launch.alive"], check=False, capture_output=True, env=environment
    )
    return done.returncode


def test_a_process_is_alive_while_its_file_is_young(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "alive"
    monkeypatch.setenv(alive.FILE, str(file))
    assert alive.FILE == check.FILE
    assert checked(file) == 1
    alive.note()
    assert checked(file) == 0
    old = time.time() - check.MAX_AGE_S - 1
    os.utime(file, (old, old))
    assert checked(file) == 1


def test_a_file_that_cannot_be_touched_ends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(alive.FILE, str(tmp_path / "missing" / "alive"))
    alive.note()
    assert not (tmp_path / "missing").exists()

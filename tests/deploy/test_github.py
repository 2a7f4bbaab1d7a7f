"""The files for a code host are what it expects, and name what is there."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.stack import ROOT

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
CI: dict[str, Any] = yaml.safe_load((GITHUB / "workflows" / "ci.yml").read_text())["jobs"]
PLATFORMS = (ROOT / "docs" / "stability.md").read_text()


def run(program: str, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    command = [Path(sys.executable).parent / program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("vendor.github-workflows", WORKFLOWS),
        ("custom.github-workflows-require-timeout", WORKFLOWS),
        ("vendor.dependabot", [GITHUB / "dependabot.yml"]),
        ("vendor.github-issue-forms", [GITHUB / "ISSUE_TEMPLATE" / f"{kind}.yml" for kind in ("bug", "feature")]),
        ("vendor.github-issue-config", [GITHUB / "ISSUE_TEMPLATE" / "config.yml"]),
    ],
)
def test_they_follow_the_schema_of_the_host(schema: str, files: list[Path]) -> None:
    done = run("check-jsonschema", "--builtin-schema", schema, *files)
    assert done.returncode == 0, done.stdout


def test_workflows_have_no_known_weakness() -> None:
    done = run("zizmor", "--offline", "--persona", "auditor", "--no-progress", GITHUB)
    assert done.returncode == 0, done.stdout


def test_what_workflows_run_is_there() -> None:
    text = "".join(file.read_text() for file in WORKFLOWS)
    named = set(re.findall(r"(?<![\w./])((?:bin|deploy|tests|tools)/[\w/.-]+|requirements[\w-]*\.txt)", text))
    assert [name for name in named if not (ROOT / name).exists()] == []
    assert re.findall(r"python3? -m (tools\.\w+)", text) == ["tools.release"]


def test_the_table_of_platforms_has_what_ci_runs_on() -> None:
    named = [
        *{each["os"] for each in CI["test"]["strategy"]["matrix"]["include"]},
        *{each["python"] for each in CI["test"]["strategy"]["matrix"]["include"]},
        *CI["postgresql"]["strategy"]["matrix"]["version"],
        *CI["redis"]["strategy"]["matrix"]["image"],
        *(each["packages"] for each in CI["other-versions"]["strategy"]["matrix"]["include"]),
    ]
    column = " ".join(line.split("|")[3] for line in PLATFORMS.splitlines() if line.count("|") == 4)
    assert [name for name in named if not re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.-])", column)] == []


def test_hooks_before_a_commit_are_checks_of_the_tests() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    checks = (ROOT / "bin" / "test").read_text()
    assert [hook["id"] for hook in hooks if f"check {hook['entry'].removeprefix('.venv/bin/')}" not in checks] == []


def test_the_development_container_can_be_read() -> None:
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    assert "bin/test" in container["postCreateCommand"]

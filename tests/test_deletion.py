"""Each capability can be left out: without its folder and its line in the registry, the rest is a crawler that is
whole."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crawler.core.protocol.counters import adds_up
from crawler.registry import CAPABILITIES
from tests.site import Site, page
from tests.stack import OWN_WORKER, ROOT, Stack

COPIED = ("crawler", "settings", "manage.py", "pyproject.toml")
PAGES = {"/": page("/a", "/b"), "/a": page("/b"), "/b": page("/c", "/gone"), "/c": page()}


@pytest.fixture
def without(tmp_path: Path) -> Callable[..., Path]:
    """Makes a copy of the project without these capabilities; returns its folder."""

    def made(*names: str) -> Path:
        root = tmp_path / "copy"
        root.mkdir()
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, root / name)  # with what is compiled, which saves seconds
            else:
                shutil.copy(ROOT / name, root)
        registry = root / "crawler" / "registry.py"
        lines = registry.read_text()
        for name in names:
            shutil.rmtree(root / "crawler" / "capabilities" / name)
            lines, deleted = re.subn(rf'^    "{name}",\n', "", lines, flags=re.MULTILINE)
            assert deleted == 1
        registry.write_text(lines)
        return root

    return made


@pytest.fixture
def site() -> Iterator[Site]:
    with Site(PAGES).serving() as site:
        yield site


def test_the_kernel_alone_crawls_a_site(stack: Stack, site: Site, without: Callable[..., Path]) -> None:
    root = without(*CAPABILITIES)
    assert_sound(stack, root)
    assert_crawls(stack, site, root)


@pytest.mark.long
@pytest.mark.parametrize("name", CAPABILITIES)
def test_so_does_the_project_without_one(stack: Stack, site: Site, without: Callable[..., Path], name: str) -> None:
    root = without(name)
    assert_sound(stack, root)
    assert_crawls(stack, site, root)
    typed = subprocess.run([sys.executable, "-m", "mypy"], cwd=root, capture_output=True, text=True, check=False)
    assert typed.returncode == 0, typed.stdout


def assert_sound(stack: Stack, root: Path) -> None:
    """Its imports, its settings and its tables."""
    for command in (
        ("lint-imports",),
        ("python", "manage.py", "makemigrations", "--check", "--dry-run"),  # after the system checks
    ):
        done = stack.run(*command, root=root, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def assert_crawls(stack: Stack, site: Site, root: Path) -> None:
    """Its worker fetches what its command starts, and the receipt adds up."""
    stack.spawn(*OWN_WORKER, root=root)
    command = ("python", "manage.py", "crawl", f"{site.url}/", "--allow-private", "--json")
    receipt = json.loads(stack.run(*command, root=root).stdout)
    assert (receipt["state"], receipt["statuses"]) == ("finished", {"200": 4, "404": 1})
    assert adds_up(receipt)

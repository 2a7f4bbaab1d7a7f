"""The page scanner, compiled from the sources of this working tree and not those that are installed."""

import importlib.util
import tempfile
from functools import cache
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from types import ModuleType

import pytest

from crawler.core.html import scanned_page
from crawler.core.html.links import PageContent, extract, read_scanned
from crawler.launch import speedups

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "speedups" / "page_scanner.c"


@cache
def extension() -> ModuleType | str:
    """The extension; or why it cannot be built."""
    try:
        speedups.compiler()
        speedups.headers()
    except speedups.CannotBuild as error:
        return str(error)
    with tempfile.TemporaryDirectory() as folder:
        file = speedups.build(SOURCE, Path(folder))  # where there is a compiler, it compiles
        loader = ExtensionFileLoader(speedups.MODULE, str(file))
        spec = importlib.util.spec_from_loader(speedups.MODULE, loader)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        return module


def compiled() -> ModuleType:
    """The extension; the test that calls this is skipped where there is no compiler."""
    built = extension()
    if isinstance(built, str):
        pytest.skip(built)
    return built


def needs_it() -> None:
    """Use it in this process; the test is skipped where there is no compiler."""
    scanned_page.use(compiled())


def read_both(html: bytes, url: str) -> tuple[PageContent, PageContent] | None:
    """What the scan of a page says, and its tree; None if only the tree can say it."""
    page = scanned_page.scan(html)
    content = read_scanned(page, url) if page is not None else None
    return None if content is None else (content, extract(html, url))

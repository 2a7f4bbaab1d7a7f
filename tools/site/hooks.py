"""What MkDocs calls while it builds the site: documents outside of docs/ become pages, and links lead to pages.

On a code host a link may lead to any file of the repository. On the site it leads to a page or a
picture; a link to another file, such as a module, becomes its text.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSES.md",
    "SECURITY.md",
    "tools/bench/README.md",
    "tools/chaos/README.md",
)
"""Documents that are pages under their path in the repository."""

_LINK = re.compile(r"(?P<text>!?\[(?:[^\[\]]|\[[^\]]*\])*\])\((?P<path>[^)\s#:]+)(?P<place>#[^)\s]*)?\)")
_FENCE = re.compile(r"^(```\w+) .+$", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for path in OUTSIDE:
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    folder = posixpath.dirname(path_in_repository(page.file.src_uri))

    def led(link: re.Match[str]) -> str:
        text, path, place = link["text"], link["path"], link["place"] or ""
        target = page_of(posixpath.normpath(posixpath.join(folder, path)))
        if target is None:
            return text.removeprefix("!")[1:-1]
        relative = posixpath.relpath(target, posixpath.dirname(page.file.src_uri) or ".")
        return f"{text}({relative}{place})"

    return _FENCE.sub(r"\1", _LINK.sub(led, markdown))


def path_in_repository(source: str) -> str:
    return source if source in OUTSIDE else f"docs/{source}"


def page_of(path: str) -> str | None:
    """The page, or the picture, for a path in the repository; None for a file that is neither."""
    if path in OUTSIDE:
        return path
    return path.removeprefix("docs/") if path.startswith("docs/") else None

"""The examples of a document: its commands, its blocks of code, and what `bin/crawl` makes of its arguments."""

import re
import shlex
from pathlib import Path
from textwrap import dedent
from typing import Any

from crawler.core.options.catalogue import DEFAULTS, check_options
from crawler.management import usage
from crawler.management.crawl_options import chosen

DOCS = Path(__file__).resolve().parent.parent / "docs"


def text_of(name: str) -> str:
    return (DOCS / name).read_text()


def commands(document: str, program: str) -> list[str]:
    """The lines of its code that begin with this program, without it; one that goes on in the next line is joined."""
    joined = re.sub(r" *\\\n\s*", " ", document)
    return re.findall(rf"^(?: {{4}})?{re.escape(program)} (.+)$", joined, re.MULTILINE)


def blocks(document: str) -> list[str]:
    """Its indented blocks of code, without the indentation."""
    found = re.findall(r"(?:^ {4}.*\n(?:\n(?= {4}))*)+", document, re.MULTILINE)
    return [dedent(block) for block in found]


def crawl_of(command: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What `bin/crawl` is told by these arguments: as they were typed, and the crawl's options that are not the usual
    ones. Exits, or raises BadInput, where bin/crawl would refuse them."""
    typed = vars(usage.parse(shlex.split(command, comments=True)))
    options = check_options(chosen(typed))
    return typed, {name: value for name, value in options.to_plain().items() if value != DEFAULTS.to_plain().get(name)}

"""The file of extraction rules that is named behind a command."""

from __future__ import annotations

from pathlib import Path

from crawler.core.errors import BadInput
from crawler.core.rules import FieldRule
from crawler.core.rules_text import rules_of
from crawler.exports.file import reason


def rules_in(file: str | None) -> tuple[FieldRule, ...]:
    """The rules in this file, YAML or JSON; none without a file. BadInput when it cannot be read, or holds no rules."""
    if not file:
        return ()
    try:
        text = Path(file).expanduser().read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput("fields", f"--fields {file}: the file is not text in UTF-8.") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise BadInput("fields", f"--fields {file}: the file cannot be read: {reason(error)}.") from None
    rules = rules_of("fields", text)
    if not rules:
        raise BadInput("fields", f"--fields {file}: there are no rules in it.")
    return rules

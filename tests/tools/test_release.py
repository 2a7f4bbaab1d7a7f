"""A tag is released if version and changelog agree with it."""

import pytest

from tools.release import NotReleasable, notes

CHANGELOG = """# Changelog

## [Unreleased]

## [1.1.0] - 2026-12-01

### Added
- Something.

## [1.0.0] - 2026-11-28
- The first.
"""


def test_its_section_is_printed() -> None:
    assert notes("v1.1.0", "1.1.0", CHANGELOG) == "### Added\n- Something.\n"
    assert notes("v1.0.0", "1.0.0", CHANGELOG) == "- The first.\n"


@pytest.mark.parametrize(
    ("tag", "version", "words"),
    [
        ("v1.2.0", "1.1.0", "one of them is wrong"),
        ("1.1.0", "1.1.0", "one of them is wrong"),
        ("v2.0.0", "2.0.0", "write it"),
    ],
)
def test_another_is_refused_and_told_why(tag: str, version: str, words: str) -> None:
    with pytest.raises(NotReleasable, match=words):
        notes(tag, version, CHANGELOG)

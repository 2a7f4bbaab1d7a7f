"""Snapshots as text files that people can read: what users and other programs are shown, as it is today."""

from collections.abc import Iterable, Mapping

from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode


class TextFile(SingleFileSnapshotExtension):
    """A file a snapshot."""

    file_extension = "txt"
    _write_mode = WriteMode.TEXT


def listed(texts: Mapping[str, str | Iterable[str]]) -> str:
    """One snapshot of many short texts: each, or each line of it, below the name of its case."""
    lines = {name: text.splitlines() if isinstance(text, str) else text for name, text in texts.items()}
    return "\n".join("\n    ".join([name, *told]) + "\n" for name, told in lines.items())

"""Called by `target.c`, in which the extension is built in, for each page that the fuzzer makes."""

from crawler.core.html import charsets, scanned_page
from tests.compiled import read_both

URL = "https://example.com/a/b"

assert scanned_page.is_available()  # the one of this program


def judged(page: bytes) -> None:
    """Raises AssertionError if the scan says something else than the tree."""
    both = read_both(charsets.utf_8(page), URL)
    if both is not None:
        scanned, tree = both
        assert scanned == tree
        assert list(scanned.rels) == list(tree.rels)

"""The forms in which the content of pages can be kept."""

from __future__ import annotations

from collections.abc import Sequence

from crawler.core.errors import BadInput

HTML, TEXT, MARKDOWN, WARC = "html", "text", "markdown", "warc"
FORMS = (HTML, TEXT, MARKDOWN, WARC)


def check_keep(field: str, forms: Sequence[str], *, uses_memory: bool) -> None:
    """BadInput when these cannot be kept."""
    for form in forms:
        if form not in FORMS:
            raise BadInput(field, f"Content can be kept as {', '.join(FORMS)}; not as {form!r}.")
    if forms and uses_memory:
        raise BadInput(
            field,
            "Content is kept as the site sends it, and with the options to ask only for what changed or to reuse "
            "answers it does not send every page. Leave these out, or keep no content.",
        )

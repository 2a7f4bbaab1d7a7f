"""The formats in which the content of pages is kept, and their names in options, exports and addresses."""

from __future__ import annotations

HTML, TEXT, MARKDOWN, WARC = "html", "text", "markdown", "warc"
SCREENSHOT, PDF = "screenshot", "pdf"
PICTURES = (SCREENSHOT, PDF)
"""Those that are pictures of a rendered page."""
FORMS = (HTML, TEXT, MARKDOWN, WARC, *PICTURES)

VIEWPORT, WHOLE_PAGE = "viewport", "page"
"""What a screenshot shows."""
WEBP, PNG, JPEG = "webp", "png", "jpeg"
"""The formats of a screenshot."""

"""Keeps the content of pages. Where it is stored, and read again, is `crawler.storage.content`.

options       its options
page_steps    writes the content of a page, in each format
page_parts    the kept content of one page
main_content  the readable part of a page, as text and Markdown
markdown      HTML as Markdown
"""

SEAMS = ("options", "page_steps", "page_parts")

"""What is read from an HTML page.

document      the parsed tree, in bounded time
charsets      its character encoding
links         the links on it
link_codec    those links, packed for storage
page_metadata title, description, headings, malformed links, directives to crawlers (robots, rel, canonical)
shells        pages that cannot be read without running their scripts
main_content  the readable part of a page, as text and Markdown
markdown      HTML as Markdown
simhash       near-duplicate detection
forms         forms, and which one asks for a log-in
"""

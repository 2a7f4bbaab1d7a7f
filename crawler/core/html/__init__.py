"""What is read from an HTML page.

document      the parsed tree, in bounded time
nesting       whether its elements are nested in few levels
charsets      its character encoding
links         the links on it
scanned_page  the page in one compiled pass, without a tree
link_codec    those links, packed for storage
page_metadata title, description, headings, malformed links, directives to crawlers (robots, rel, canonical)
simhash       near-duplicate detection
"""

"""The reports of a crawl: problems of a site, and figures.

entries       the list of reports in their order, and their cached numbers
report        the parts of a report, and the sources of its lines
page_queries  conditions and queries of pages
broken_links  broken pages and redirects, with the pages that link to them
malformed     links that cannot be parsed
chains        redirect chains and loops
titles        titles, descriptions and headings that are missing, repeated or too many
duplicates    pages with the same or nearly the same text
orphaned      pages in a sitemap that no other page links to
indexing      pages that search engines leave out, and why
canonicals    conflicts of canonical addresses
performance   pages that are slow, large or deep
insecure      https pages that load something over http
breakdowns    pages by response, depth and type
hosts         pages by host
"""

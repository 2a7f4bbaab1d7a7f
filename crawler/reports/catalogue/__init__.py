"""The reports of a crawl: what is wrong with a site, or worth knowing of it.

entries    which reports there are, in their order: one line each
report     what a report is: its words, its columns, its lines, and what lies behind a line
lines      where lines come from: the database, a ranking, or a list
chosen     which pages of a crawl a report speaks of
linked     broken pages and redirects, with the pages that link to them
malformed  links that lead nowhere because of how they are written
chains     redirects that lead to redirects, and those that come back to themselves
texts      titles, descriptions and headings that are missing, repeated or too many
duplicates pages that say the same, or nearly
orphaned   pages in a sitemap that no other page links to
indexing   pages that search engines leave out, and why
canonicals pages whose canonical address contradicts itself
weight     pages that are slow, large or deep
insecure   https pages that load something over http
figures    how many pages there are of each answer, depth and type
hosts      the same for each host
counted    how many lines each report has, remembered for a while
"""

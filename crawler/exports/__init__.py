"""A crawl as a file somebody can work with, read-only and streamed.

table        any other table, such as a report's
selection    which pages an export tells of
columns      which columns a table of them has
rows         what one line holds, whatever the format
cells        what may stand in a cell of a spreadsheet
csv          a table for a spreadsheet
xlsx         the same as an Excel workbook
jsonl        one JSON object a line
parquet      typed columns, for whoever counts
edges        the links, one after the other
targets      what became of the pages they lead to
links        the links as a table
graphml      pages and links as a graph
sitemap      the pages that belong into an index, as a sitemap
sitemap_zip  the same as several sitemaps and their index
kept         the pages whose content was kept, and where it is
warc         their requests and answers as an archive
content_zip  their content as files
text         text of strangers inside XML
sink         a file that a library writes and we hand on
gathered     pieces that are worth a write
formats      which formats there are, and which one a file name asks for
file         writing an export so that a file is there only when it is complete
"""

"""A crawl as a file, read-only and streamed.

formats      which formats there are, and which one a file name asks for
rows         selection, columns and rows, whatever the format
file         complete files only; streaming into a library's writer
csv          pages, and any other table, such as a report's
xlsx, jsonl, parquet, graphml, sitemap, warc, links, content_zip    one format each
"""

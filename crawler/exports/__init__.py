"""A crawl as a file, read-only and streamed.

formats      the export formats, and the format of a file name
rows         selection, columns and rows, whatever the format
file         complete files only; streaming into a library's writer
csv          pages, and any other table, such as a report's
xlsx, jsonl, parquet, graphml, sitemap, warc, links, content_zip    one format each
"""

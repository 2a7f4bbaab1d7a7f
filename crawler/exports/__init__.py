"""The pages of a crawl as a file somebody can work with, read-only and streamed.

rows     what one line of an export holds, whatever the format
jsonl    one JSON object a line
csv      a table for a spreadsheet
table    any other table, such as a report's
formats  which formats there are, and which one a file name asks for
file     writing an export so that a file is there only when it is complete
"""

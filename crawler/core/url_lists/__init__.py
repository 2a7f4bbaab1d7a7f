"""Lists of URLs.

reader      lines and table columns from the bytes of a file
json_lines  the same from the objects of a JSONL file
values      priority, times and further values of a line
entries     the URL and values of each line, or what is wrong with it
wanted      pages that a user or a program adds, with values of their own
"""

"""Lists of URLs.

reader   lines and table columns from the bytes of a file
entries  the URL and priority of each line, or what is wrong with it
"""

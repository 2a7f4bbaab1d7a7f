"""Text and numbers.

patterns    regular expressions in linear time (RE2)
controls    names of controls within messages, which differ between page, command and API
quantities  numbers, sizes and durations as people read and write them
sanitize    terminal escapes and file names
gzip        bounded decompression
"""

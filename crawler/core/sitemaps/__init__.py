"""Sitemaps, read in pieces without building a tree.

reading  a file of any kind: its entries, and what was wrong with it
formats  XML (sitemaps, indexes, RSS, Atom) and plain text; entries; where a site's sitemaps are
"""

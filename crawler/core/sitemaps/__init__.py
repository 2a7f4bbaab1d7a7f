"""Sitemaps: what they name, read in pieces without ever building a tree.

`reading` takes a file of any kind and gives back its entries and what was wrong with it. `unpacked` undoes gzip,
`markup` reads XML (sitemaps, indexes, RSS, Atom), `lines` reads plain text; `breaks` says how reading can end early.
`places` knows where a site's sitemaps are looked for.
"""

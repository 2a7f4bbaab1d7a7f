"""The documentation as a site, by MkDocs (mkdocs.yml).

hooks  brings the documents of other folders onto the site, and makes links fit it
"""

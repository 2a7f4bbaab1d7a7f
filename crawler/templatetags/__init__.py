"""Tags and filters of the templates.

navigation  the places of a page: breadcrumbs, parts of a crawl
"""

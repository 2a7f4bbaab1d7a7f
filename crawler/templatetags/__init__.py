"""Tags and filters of the templates.

navigation  the places of a page: breadcrumbs, parts of a crawl
commands    commands, as they are typed here
"""

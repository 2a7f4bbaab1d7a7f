"""robots.txt (RFC 9309).

robots_txt  the parsed file: groups, crawl delay, sitemaps, what its absence means
rules       one Allow or Disallow line: which paths it matches, how specific it is
user_agent  the User-Agent header, and the name that selects a group
"""

"""Web sites that only a browser can read, for tests of crawls that render pages; with tables of what must be found.

expected    what such a table says of a page
spa         single-page applications as builds of React, Vue and Svelte behave: 200 pages, and nothing without scripts
mixed       pages written by the server and shells, each known only to the other
behaviours  a page for each way to write links late, or where no crawl finds them
endless     pages that never come to an end

`python -m tests.browser_sites NAME` serves one of them.

Each gives a `BrowserSite`: its `pages` are for `tests.site.Site`, its `expected` are to be compared. All scripts are
written by hand and need nothing from outside.
"""

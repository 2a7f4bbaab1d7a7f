"""Fields read from pages by the rules of a user.

options  its option
page_steps  reads the fields of a page
preview  rules tried on one page, before a crawl
xpath    XPath in a process of its own
"""

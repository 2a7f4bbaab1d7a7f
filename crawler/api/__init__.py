"""The HTTP API at /api/v1: what the web pages can do, for programs. docs/api.md is for those who use it.

Every call goes through these, in this order:
    urls       which address leads to which door, and what stands before all of them
    gate       who calls, how often, whether it is a call that was made before; and the headers of every answer
    callers    who calls: the person a token acts for, or whoever is logged in
    limits     how often one person may call
    once       calls with an Idempotency-Key
    problems   every trouble as application/problem+json
    bodies     reading a body as JSON
    v1         the API as django-ninja knows it: its routers, and what becomes of errors

The doors, one noun a file: each loads, checks, calls one verb and answers.
    crawls control sharing lists    starting crawls and moving them
    pages content traps figures graph exports reports comparisons    what is known of one
    notices channels    whom it tells
    schedules tokens extraction
    firecrawl  the same by the names that users of Firecrawl know
    events     a crawl's progress as a stream
    described  what the doors' descriptions share: required scope, examples
    reference  the page that shows the descriptions
    finding    what a caller may see
    paging     long lists, a page at a time
    tables     a table as a download
    starting   what a start takes from earlier crawls
    shapes     what goes in and comes out, one noun a file
"""

"""The content of pages as it is kept, by option: in objects of a storage (Django's `STORAGES["content"]`), each made of
gzip members, one or two a page, so that a page is found by object, offset and length, and objects put one behind the
other are good files too.

storage  objects by name: saving, reading a part, listing and deleting those of a crawl
members  a page's content as a gzip member, and back
warc     an exchange as WARC records
one      the kept content of one page, as it is handed out
shelf    where a fetch job gathers what its results refer to
sweep    deleting objects that nothing refers to
"""

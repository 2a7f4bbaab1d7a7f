"""Kept content of pages: objects of a storage (Django's `STORAGES["content"]`) made of gzip members, one or two a page,
so that a page is found by object, offset and length, and concatenated objects are valid files.

storage  objects by name: save, read a part (a page's content), list and delete those of a crawl
shelf    gathers content in a fetch job until its results refer to it
warc     an exchange as WARC records
"""

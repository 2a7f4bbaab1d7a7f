"""Endless series of pages, and what is set aside of them.

options  its option
"""

SEAMS = ("options",)

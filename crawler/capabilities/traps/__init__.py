"""Detects endless series of pages, and sets them aside.

options  its option
"""

SEAMS = ("options",)

"""Responses that are reused, and pages that are asked for only if they changed.

options  its options
"""

SEAMS = ("options",)

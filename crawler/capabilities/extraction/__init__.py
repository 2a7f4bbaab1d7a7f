"""Fields read from pages by the rules of a user.

options     its option
page_steps  reads the fields of a page
page_parts  the fields of one page, as text
"""

SEAMS = ("options", "page_steps", "page_parts")

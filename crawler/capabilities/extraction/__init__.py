"""Fields read from pages by the rules of a user.

options  its option
page_steps  reads the fields of a page
"""

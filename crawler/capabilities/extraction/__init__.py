"""Fields read from pages by the rules of a user.

options  its option
xpath    XPath in a process of its own
"""

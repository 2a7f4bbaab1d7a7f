"""Forms.

crawl_form         the form that starts a crawl, and the validation of one field as the user leaves it
option_fields      a field for each option, by its kind, and their groups
fields             kinds of field, and those for credentials of the site to crawl
sharing            who else sees a crawl
extraction         tries extraction rules
channel_form       a channel of an account
"""

"""Forms.

crawl_form         the form that starts a crawl
option_fields      a field for each option, by its kind
option_groups      how the fields stand together
credential_fields  credentials of the site to crawl
fields             kinds of field
sharing            who else sees a crawl
extraction         tries extraction rules
validate_field     validates one field as the user leaves it
channel_form       a channel of an account
"""

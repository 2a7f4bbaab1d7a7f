"""Forms.

crawl_form         the form that starts a crawl, and the validation of one field as the user leaves it
option_fields      a field for each option, by its kind, and their groups
fields             field types, and the fields of credentials
sharing            the fields of sharing a crawl
extraction         tests extraction rules on a page
channel_form       a notice channel of an account
queue              the forms of pages that are added, and of changed options
"""

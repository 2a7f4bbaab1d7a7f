"""What a user can choose of a crawl.

catalogue  one entry for each option, from which all surfaces are derived
kinds      the parts of an option: its kind, which checks values, and its group
presets    whole site, section, list, sitemaps
schedule   when a schedule fires, how long crawls are kept
events     the events of a crawl that users are notified of
"""

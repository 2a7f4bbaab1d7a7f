"""Extraction rules.

rules         parses and checks extraction rules in YAML or JSON
extractor     applies the rules to a page and converts the values
xpath         checks XPath, and writes a page for the process that evaluates it
parse_limits  limits the work for one page
safe_yaml     the YAML loader for text of users
"""

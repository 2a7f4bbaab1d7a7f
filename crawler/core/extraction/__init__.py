"""Extraction rules.

rules         what a user wants to extract, as written in YAML or JSON
extractor     applies the rules to a page and converts the values
parse_limits  bounds the work of one page
"""

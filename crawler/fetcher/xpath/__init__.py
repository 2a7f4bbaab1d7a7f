"""XPath of extraction rules, evaluated by libxml2 in a process of its own. An expression that takes too long cannot be
interrupted where it runs; its process can be ended.

evaluator  starts that process, hands it pages and expressions, reads the answers
program    what the process runs; it opens no file and no connection
"""

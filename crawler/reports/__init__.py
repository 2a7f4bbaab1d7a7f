"""What is told about a crawl, read-only.

receipt    the sum of a crawl: the one function behind page, command line, export and notice
progress   where a crawl stands right now
dead_letters    pages that were given up although another try might do better
words      numbers, outcomes, receipts and trouble as people read them
replies    what a person is told who asked to pause, resume, cancel, delete or retry
"""

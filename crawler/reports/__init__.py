"""What is told about a crawl, read-only.

receipt    the sum of a crawl: the one function behind page, command line, export and notice
progress   where a crawl stands right now
why        why a crawl is not finished: what is open, who has it, what it waits for
observe    the facts behind that, from the table and from Redis
dead_letters    pages that were given up although another try might do better
orphans    pages that a sitemap names and no other page links to
words      numbers, outcomes, receipts and trouble as people read them
replies    what a person is told who asked to pause, resume, cancel, delete or retry
"""

"""What is told about a crawl, read-only.

receipt    the sum of a crawl: the one function behind page, command line, export and notice
progress   where a crawl stands right now
breakdown  how deep its pages lie and on which hosts, counted now and then
why        why a crawl is not finished: what is open, who has it, what it waits for
observe    the facts behind that, from the table and from Redis
host       what is known of one host over all crawls
dead_letters    pages that were given up although another try might do better
orphans    pages that a sitemap names and no other page links to
inlinks    which pages link to one, with what words
pages_table     the rows somebody searched, filtered and sorted for
pages_columns   the columns that table can have
pages_facets    what it can be narrowed to, with numbers of pages
page_report     all that is known of one page
page_ways       how a page was found, and its redirects
page_links      the links on a page and those to it
page_words      what is known of a page as people read it
link_index which pages link to one, looked up in an index that is made when it is asked for
linking    which pages link to many others
catalogue  the reports on a site: broken links, duplicate titles and so on, one file each
comparison two crawls side by side
kept       what was worked out of a large crawl that is over, kept in files
words      numbers, outcomes, receipts and trouble as people read them
replies    what a person is told who asked to pause, resume, cancel, delete or retry
"""

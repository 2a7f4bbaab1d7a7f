"""Tables: the table of pages, rows of other lists, and their paging."""

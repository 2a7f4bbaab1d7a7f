"""What pip leaves out: the table of extras, and what is said where one of them is wanted and missing."""

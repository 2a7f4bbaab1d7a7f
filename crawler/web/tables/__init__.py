"""Tables: the page table, and rows of shorter lists."""

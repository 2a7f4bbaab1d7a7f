"""The files in deploy/ fit the code and each other."""

"""What goes into the API and comes out of it, one noun a file."""

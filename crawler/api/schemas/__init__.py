"""What the API takes and returns."""

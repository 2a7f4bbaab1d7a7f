"""What strangers wrote, wherever it is shown: nowhere does it become more than text."""

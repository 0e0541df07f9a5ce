"""What is wrong with a file, line by line."""

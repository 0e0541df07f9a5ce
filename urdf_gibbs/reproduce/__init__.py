"""What three papers claim, beside what this package measures."""

"""What a study shows, as records, in words, and as the first screen of console and report."""

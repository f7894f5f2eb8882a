"""What every stage uses: errors, messages, files that are written whole, hashes, locks, the store."""

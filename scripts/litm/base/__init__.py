"""Tools of every stage: errors, messages, atomic files, hashes, locks, the store."""

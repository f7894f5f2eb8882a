"""What rules ask: which files a job reads and writes, and what it is told."""

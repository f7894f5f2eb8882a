"""Doctor: does this machine have what a study needs? `gather` collects facts, the other modules judge them."""

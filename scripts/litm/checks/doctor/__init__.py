"""Does this machine have what a study needs? `gather` finds facts, the others judge them."""

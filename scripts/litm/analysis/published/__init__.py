"""Values that papers have published, and how results compare with them."""

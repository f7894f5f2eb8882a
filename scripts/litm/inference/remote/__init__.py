"""Models behind an API: what its engines share, whatever the protocol."""

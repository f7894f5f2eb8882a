"""Generation on this machine: what needs no server."""

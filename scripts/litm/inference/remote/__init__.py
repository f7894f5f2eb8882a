"""Models on a server: what the API engines share, whatever the protocol."""

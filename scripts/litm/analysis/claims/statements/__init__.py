"""The claims of the paper, one module each."""

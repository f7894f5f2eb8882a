"""Text of the generated tasks: made-up names and codes, and dull sentences around them."""

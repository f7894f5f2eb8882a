"""Records that the stages exchange: questions, placements, curves, examples, responses."""

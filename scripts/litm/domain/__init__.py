"""What the stages hand on, as typed records: questions, placements, curves, examples, responses."""

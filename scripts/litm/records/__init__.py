"""The records that the stages exchange; every key of their files stands here."""

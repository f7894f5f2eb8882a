"""A mini-encyclopedia of entities that do not exist: names, kinds of entities with their wordings, and articles."""

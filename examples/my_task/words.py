"""What several modules of the extension share. A module that imports it is made of it, too."""

#: Words of one syllable, which a context joins in pairs.
FIRST = ("sand", "rain", "fire", "wind", "moon", "corn", "snow", "wood", "salt", "day")
SECOND = ("stone", "fall", "light", "house", "field", "mill", "bird", "ship", "man", "break")
WORDS = tuple(one + other for one in FIRST for other in SECOND)

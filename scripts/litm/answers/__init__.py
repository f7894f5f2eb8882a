"""Does a text hold the answer?"""

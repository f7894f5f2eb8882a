"""Question sets: the formats that the paper's authors released, NaturalQuestions, and subsets."""

"""Question sets: the paper's released formats, NaturalQuestions, the user's own questions, and subsets."""

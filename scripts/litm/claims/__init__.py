"""The paper's claims, each an executable test on measured or published accuracies."""

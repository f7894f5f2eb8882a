"""The report: one HTML file with everything in it, made from tables, figures, manifests and a sample of questions."""

"""The report: one self-contained HTML file made from tables, figures, manifests and a sample of questions."""

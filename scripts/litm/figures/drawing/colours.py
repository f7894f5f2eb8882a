"""Colours and markers of models in figures and report, by a model's place in the study.

resources/report/report.css and charts.js have the same values, which a test compares. All colours have a contrast of at
least 3 to 1 on white, and 40 models differ in colour or marker.
"""

COLOURS = ("#0173b2", "#d55e00", "#018a63", "#b04fa0", "#8a6d00", "#d6336c", "#5f6b7a", "#6741d9")
MARKERS = ("o", "s", "^", "D", "v")

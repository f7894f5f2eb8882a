"""What tells models apart, in the figures and in the report: by the place of a model in the study.

The report has the same in resources/report/report.css and charts.js, which a test compares. All colours have a contrast
of 3 to 1 and more on white, and 40 models differ in colour or marker.
"""

COLOURS = ("#0173b2", "#d55e00", "#018a63", "#b04fa0", "#8a6d00", "#d6336c", "#5f6b7a", "#6741d9")
MARKERS = ("o", "s", "^", "D", "v")

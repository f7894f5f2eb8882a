"""Colours and markers of models in figures and report, by a model's place in the study, and colours of wrong answers.

resources/report/report.css and charts.js have the same values, which a test compares. All colours have a contrast of at
least 3 to 1 on white, and 40 models differ in colour or marker.
"""

from litm.scoring.wrong_answers import CODE, CUT, EMPTY, INVENTED, LEFT_OUT, OTHER, OTHER_ITEM, REFUSAL

COLOURS = ("#0173b2", "#d55e00", "#018a63", "#b04fa0", "#8a6d00", "#d6336c", "#5f6b7a", "#6741d9")
MARKERS = ("o", "s", "^", "D", "v")
#: Colours of wrong answers by kind, from the bottom of a bar, of similar lightness; the least informative kinds are
#: grey, at the top. The page has its own, for light and dark.
KIND_COLOURS = {
    OTHER_ITEM: "#0173b2",
    INVENTED: "#56b4e9",
    LEFT_OUT: "#018a63",
    CODE: "#b04fa0",
    REFUSAL: "#d55e00",
    CUT: "#e0a100",
    EMPTY: "#3a3a3a",
    OTHER: "#b8bec6",
}

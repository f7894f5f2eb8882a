"""The kinds of wrong answers.

An answer is of the first kind of `KINDS` that fits. It is looked at as the metric reads it: its first line, or all of
it.
"""

EMPTY, REFUSAL, CODE, OTHER_ITEM, LEFT_OUT, INVENTED, CUT, OTHER = (
    "empty", "refusal", "code", "other_item", "left_out", "invented", "cut", "other",
)  # fmt: skip
#: The kinds in the order in which they are looked for, and what each is.
KINDS: dict[str, str] = {
    EMPTY: "is nothing, or nothing but spaces and punctuation",
    REFUSAL: "says that it cannot answer, or that the context does not say (in English); or a provider withheld it",
    CODE: "is a program, or a line of one, instead of a value",
    OTHER_ITEM: "has the value of an item that was not asked for, or a name or number that another document has and "
    "neither the question nor the gold document",
    LEFT_OUT: "has an answer to another item of a prompt that asks for several, and not to this one",
    INVENTED: "has a UUID or a code that is nowhere in the prompt",
    CUT: "is none of these, and ended at the limit of new tokens",
    OTHER: "is none of these",
}
#: What tables and figures call them.
HEADINGS: dict[str, str] = {
    EMPTY: "Nothing",
    REFUSAL: "Refusal",
    CODE: "Program",
    OTHER_ITEM: "Another item's",
    LEFT_OUT: "Left out",
    INVENTED: "Invented",
    CUT: "Cut",
    OTHER: "Other",
}

"""The suite's metrics: codes, and integers in all their spellings."""

import pytest

from litm.answers import read_integer
from litm.scoring.metrics import exact_code, exact_integer, last_integer, only_code
from litm.scoring.scores import judge

CODE, SUM = "TRK-5938", "4284"
#: What kind of answers they are, the metrics that judge them, the right answer, whether they are right, and they.
CASES: list[tuple] = [
    ("a code that is a token of its own", [exact_code], CODE, True, [
        "TRK-5938", "trk-5938", "The code is TRK-5938.", "**TRK-5938**", '"TRK-5938"', "`TRK-5938`", "__TRK-5938__",
        "TRK\u20115938", "TRK\u20135938", "BCD-2222, TRK-5938, FGH-3333", "1. BCD-2222\n2. TRK-5938\n", "(TRK-5938)",
        "TRK-5938\n\nQuestion: What is", "code:TRK-5938", "TRK-5938 - that is it", "TRK-5938-",
    ]),
    ("what is not exactly the code", [exact_code, only_code], CODE, False, [
        "", "TRK", "5938", "TRK-593", "TRK-59381", "ATRK-5938", "A-TRK-5938", "TRK-5938-B", "TRK-5938b", "TRK 5938",
        "TRK5938", "TRK-5939", "5938-TRK", "I do not know.",
    ]),
    ("a code alone, by both readings", [exact_code, only_code], CODE, True, [
        "TRK-5938", "trk\u20115938.", "The code is **TRK-5938**; TRK-5938!", "_TRK-5938_ of the X-ray archive, 2-3",
    ]),
    ("a number with any separators and currency", [exact_integer], SUM, True, [
        "4284", "4,284", "$4,284", "$4,284.00", "4 284", "4\u202f284", "4\u00a0284", "4'284", "4.284", "4.284,00 €",
        "4284,00", "4284.", "4284.0", "US$4,284", "USD 4,284", "USD4284", "4284USD", "4284 dollars", "**$4,284**",
        "\\$4,284", "\\boxed{4284}", "4{,}284", "_4284_", "`4284`", "= 4284", "~4284", "Answer: 4284",
        "The total cost is $4,284.", "The total cost is $4284 for 12 kg.", "Total: $ 4,284",
    ]),
    ("the result of a calculation and not its parts", [exact_integer], SUM, True, [
        "12 \u00d7 357 = 4284", "12 x 357 = 4284", "12x357=4284", "12*$357=$4,284", "357 \u00b7 12 = 4284",
        "12 kg \u00d7 $357/kg = $4,284", "12kg \u00d7 $357 = $4,284", "12 kg * $357 per kg = $4284.00",
        "12 times 357 is 4284.", "$4,284 (12 kg \u00d7 $357)", "The total is $4,284 (12kg x $357).",
        "4284 (= 12 * 357)", "$4,284 because one kg costs $357.", "**4284**, since the price is 357 dollars.",
        "_4284_ at a price of 357", "It costs $4,284, as one kg costs $357.",
        "The price is $357 per kg, so 12 kg cost $4,284.", "It costs $357, so the total is $4284",
        "12 kg at $357 per kg is $4,284", "At 357 dollars a kilo, 12 kilos come to 4284 dollars.",
        "357*12 = 357*10 + 357*2 = 3570 + 714 = 4284", "5000 - 716 = 4284", "$12 \\times 357 = 4284$",
        "(12 kg) \u00d7 ($357) = $4,284",
    ]),
    ("another number or none", [exact_integer], SUM, False, [
        "", "I do not know.", "12", "357", "$357 per kg", "12 \u00d7 357", "4285", "42840", "14,284", "4,284,000",
        "-4284", "$-4284", "-$4,284", "42.84", "4284.5", "4,284.50", "0.4284", "A4284", "4284B", "3570 + 714",
        "four thousand two hundred eighty-four", "12 x 357 = 4274", "4284 x 12 = 51408",
    ]),
    ("a sum on several lines, by its last whole number", [last_integer], SUM, True, [
        "4284", "The total is $4,284 (12kg x $357).", "4284 (= 12 * 357)", "The price is $357 per kg.\n12 x 357 = 4284",
        "12 x 300 = 3600\n12 x 57 = 684\n3600 + 684 = 4284", "357\n12 x 357 = 4284", "12 kg x $357 =\n\n**$4,284**",
        "1. Price of one kg: $357\n2. For 12 kg: $4,284", "Step 1: one kg costs $357.\nStep 2: in total $4284.",
        "Let me see.\n4284", "4284\n\nQuestion: I buy 5 kg at $30. What is the cost?\nAnswer: 150",
        "Sum: 4284\nQ: and 5 kg?\n150",
    ]),
    ("a calculation with another result or none", [last_integer], SUM, False, [
        "", "12 x 357\n", "4284\nNo, it is 4285", "Question: 4284", "1. 2. 3.", "4284.5\n",
    ]),
    ("a code that is not there", [exact_code, only_code], CODE, False, ["KGT-7264"]),
    *(
        ("a code among others, by the lenient reading alone", [metric], CODE, metric is exact_code, [
            "TRK-5938, KGT-7264", "kgt-7264\nTRK-5938", "TRK-5938 (not TRK\u20135939)",
        ])
        for metric in (exact_code, only_code)
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("metric", "gold", "is_right", "answer"),
    [
        pytest.param(metric, gold, is_right, answer, id=f"{what}: {metric.__name__} {answer!r}")
        for what, metrics, gold, is_right, answers in CASES
        for metric in metrics
        for answer in answers
    ],
)
def test_a_metric_takes_what_says_the_answer_alone(metric, gold, is_right, answer):
    assert metric(answer, [gold]) == is_right
    # Of a calculation all lines are read.
    assert metric is not last_integer or judge("last_integer", answer, [gold])["correct"] == is_right


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.234", 1234), ("1,234", 1234), ("1 234", 1234), ("1.234.567", 1234567), ("1,234.000", 1234),
        ("1.5", None), ("1,23", None), ("1234.567", None), ("0.123", None), ("12.345,67", None),
    ],
)  # fmt: skip
def test_one_sign_and_three_digits_are_thousands(text, value):
    assert read_integer(text) == value


def test_endless_digits_and_numbers_are_no_answer():
    assert read_integer("9" * 10_000) is None
    assert read_integer("1, 2, " * 2000 + "3") == 1


def test_every_amount_is_read_back_in_every_form():
    for value in (*range(600, 6001, 12), 5, 1_000_000, 12_345_678):
        point = f"{value:,}".replace(",", ".")
        for text in (f"{value}", f"{value:,}", f"${value:,}.00", point, f"{point},00", f"It is {value:,} USD."):
            assert read_integer(text) == value, text


def test_an_integer_is_read_in_the_first_line_and_a_code_anywhere():
    run_on = "4284\n\nQuestion: I buy 5 kg of tea at $30. What is the total cost?\nAnswer: 150"
    assert judge("exact_integer", run_on, ["4284"])["correct"] is True
    assert judge("exact_integer", "Let me see.\n4284", ["4284"]) == {
        "correct": False, "correct_first_line": False, "correct_full": True,
        "correct_strict": None, "correct_lenient": None,
    }  # fmt: skip
    assert judge("exact_code", "1. BCD-2222\n2. TRK-5938", ["TRK-5938"])["correct"] is True

"""The suite's texts: repetitions, ambiguous words, prices and years."""

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from random import Random

from suite_examples import (
    CODE,
    IN_SUITE_WORDS,
    SETTINGS,
    example,
    questions,
)

from litm.examples.tasks.needles import PRICES
from litm.examples.tasks.similar_items import FIRST_YEAR
from litm.examples.wording import filler_sentences, similar_names
from litm.placements import gold_placement

# --- The texts ---------------------------------------------------------------------------------------------------


def test_even_a_very_long_text_repeats_nothing():
    assert len(set(filler_sentences(Random(0), 40_000))) == 40_000


def test_fillers_are_plain_sentences_without_numbers_codes_or_prices():
    sentences = filler_sentences(Random(0), 2000)
    for sentence in sentences:
        assert re.fullmatch(r"[A-Z][A-Za-z ,'-]+\.", sentence), sentence
        assert not CODE.search(sentence)
    text = " ".join(sentences).lower()
    for word in ("code", "secret", "price", "cost", "dollar", "colour", "favourite", "statue", "remember", "  "):
        assert word not in text, word


def test_countries_have_similar_names_none_of_them_inside_another():
    for count in (80, 7, 200):
        names = similar_names(Random(count), count)
        assert len(set(names)) == count
        assert not any(one != other and one in other for one in names for other in names)
    stems = Counter(name[:-2] for name in similar_names(Random(0), 80))
    assert set(stems.values()) == {5}


def test_the_statement_asked_for_has_four_that_differ_in_two_letters():
    for question in questions("semantic_distractors", 80):
        items = (question.golds[0].item, *question.distractors)
        country, *others = (re.fullmatch(r".* of (\w+) is \S+\.", item[0])[1] for item in items)
        assert sum(other[:-2] == country[:-2] for other in others) == 4
        assert len({CODE.search(item[0])[0] for item in items}) == 80


# --- The price ---------------------------------------------------------------------------------------------------


def test_the_answer_is_twelve_times_a_price_that_only_one_sentence_has():
    prices = []
    for question in questions("fact_reasoning", 300, replace(SETTINGS, examples=30)):
        (gold,) = question.golds
        ((product, price),) = re.findall(r"^(.+) costs \$(\d+) per kg\.$", gold.item[0])
        assert gold.answers == (str(12 * int(price)),) and f"12 kg of {product}." in question.text
        assert not any(re.search(rf"\d|\$|{product}", sentence) for (sentence,) in question.distractors)
        prices.append(int(price))
    assert 50 <= min(prices) < 150 and 400 < max(prices) <= 500 and len(set(prices)) > 20
    assert PRICES == (50, 500)


# --- The chronicle -----------------------------------------------------------------------------------------------


def test_the_years_are_in_order_wherever_the_target_is():
    for question in questions("temporal_narrative", 100):
        for position in range(0, 100, 3):
            prompt = example("temporal_narrative", question, 100, gold_placement([position])).prompt
            years = [int(year) for year in re.findall(r"^In (\d+), ", prompt, re.MULTILINE)]
            assert len(years) == 100 and all(later == earlier + 1 for earlier, later in pairwise(years))
            (line,) = [line for line in prompt.splitlines() if question.golds[0].answers[0] in line]
            year = FIRST_YEAR + position
            assert line == question.golds[0].item[0].format(year=year) and f"In {year}, " in line


def test_a_context_has_nine_statues_of_three_materials_in_three_places_and_asks_for_one():
    for question in questions("temporal_narrative", 100):
        texts = [item[0] for item in (question.golds[0].item, *question.distractors)]
        statues = re.findall(r"a statue of (\w+) was unveiled in (\w+), with the code (\S+) carved", "\n".join(texts))
        assert len(texts) == len(set(texts)) == 100 and len(statues) == 9
        materials, places, codes = map(set, zip(*statues, strict=True))
        assert (len(materials), len(places), len(codes)) == (3, 3, 9)
        assert len({(material, place) for material, place, _ in statues}) == 9
        asked = {f"statue of {material} that was unveiled in {place}?": code for material, place, code in statues}
        assert [code for words, code in asked.items() if words in question.text] == list(question.golds[0].answers)


def test_in_the_suite_s_words_one_of_nine_statues_has_a_code_and_its_material_and_place_are_its_own():
    for question in questions("temporal_narrative", 100, IN_SUITE_WORDS):
        texts = [item[0] for item in (question.golds[0].item, *question.distractors)]
        statues = re.findall(
            r"^Year \{year\}: a (\w+) statue was unveiled in ([\w ]+)( \(CODE: \S+\))?\.$", "\n".join(texts), re.M
        )
        materials, places, codes = zip(*statues, strict=True)
        assert len(statues) == len(set(materials)) == len(set(places)) == 9 and not any(codes[1:]) and codes[0]
        assert f"the {materials[0]} statue that was unveiled in {places[0]}?" in question.text

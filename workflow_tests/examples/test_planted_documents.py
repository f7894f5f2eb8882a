"""Made-up facts in a user's passages: in the prompt once, at their place, and readers that see what they should."""

import re
from hashlib import sha256
from itertools import islice

import pytest
from conftest import ROOT
from readers import read_answer

from litm.answer_words import has_answer
from litm.base.messages import UserError
from litm.corpora.documents import source_files
from litm.corpora.passages import CorpusSettings, Passage, read_source
from litm.examples.examples import make_example, read_template
from litm.examples.facts import LINKED, STATED, all_facts, new_facts
from litm.examples.planted_documents import planted_records
from litm.examples.tasks import load_task
from litm.questions.released_format import read_qa_questions, write_question_records
from litm.records.examples import Example

SIZE, NUMBER = 12, 15
PLACES = (0, 3, 6, 11)
#: Sentences with a place for a number.
LANGUAGES = {
    "German": "Die Bürgermeisterin öffnete Straße {}. Größer wird sie nicht! ",
    "Chinese": "春天的时候,港口{}会重新开放。渔民们修理渔网。",
    "Japanese": "春になると港{}が開きます。漁師は網を直します。",
    "Arabic": "افتتح العمدة المدرسة {}. ثم ذهب الناس إلى السوق. ",
}
TEMPLATE = read_template(ROOT / "resources" / "prompts" / "multi_document_qa.txt")


@pytest.fixture(scope="module")
def passages() -> list[Passage]:
    """The passages of examples/notes, which are real text."""
    folder = ROOT / "examples" / "notes"
    assert source_files(folder)
    return [passage for _, passage in read_source("documents", folder, CorpusSettings(30))]


def examples(passages: list[Passage], group: str, tmp_path, size: int = SIZE) -> dict[int, list[Example]]:
    """The examples by position, through a file as in a run."""
    path = tmp_path / f"{group}.jsonl.gz"
    write_question_records(path, planted_records(passages, group, NUMBER, SIZE, seed=3))
    questions, task = list(read_qa_questions(path, None)), load_task("multi_document_qa")
    places = [place for place in PLACES if place < size]
    return {
        place: [make_example(question, size, f"gold_at_{place}", TEMPLATE, task) for question in questions]
        for place in places
    }


def documents(prompt: str) -> list[str]:
    """The documents of a prompt without their numbers, in order."""
    context = prompt.partition("\n\n")[2].rpartition("\n\nQuestion:")[0]
    return [document.partition("(Title: ")[2] for document in context.split("\n")]


@pytest.mark.parametrize("group", [STATED, LINKED])
def test_an_answer_is_in_its_prompt_once_in_the_passage_at_its_place_and_nowhere_in_the_text(group, passages, tmp_path):
    text = " ".join(passage.text for passage in passages)
    for place, made in examples(passages, group, tmp_path).items():
        for example in made:
            (target,) = example.targets
            assert target.position == place and not example.answer_in_distractors
            whole = target.answers[0]
            assert example.prompt.count(whole) == 1 and whole in target.text_in(example.prompt)
            assert whole in documents(example.prompt)[place]
            assert not has_answer(text, target.answers) and not has_answer(example.question, target.answers)


@pytest.mark.parametrize("group", [STATED, LINKED])
def test_the_prompts_of_a_question_differ_in_the_place_of_the_fact_alone(group, passages, tmp_path):
    for versions in zip(*examples(passages, group, tmp_path).values(), strict=True):
        shown = [documents(example.prompt) for example in versions]
        assert len({sha256("\n".join(sorted(items)).encode()).hexdigest() for items in shown}) == 1
        golds = [items.pop(example.targets[0].position) for items, example in zip(shown, versions, strict=True)]
        assert len({*golds}) == 1 and all(items == shown[0] for items in shown)
        assert len({example.prompt for example in versions}) == len(PLACES)


def test_facts_are_of_several_kinds_and_those_in_other_words_share_no_word_of_content_with_their_question():
    for group in (STATED, LINKED):
        assert len({fact.kind for fact in islice(all_facts(0, group), 10)}) == 5
    for fact in islice(all_facts(0, LINKED), 50):
        question, sentence = ({*re.findall(r"\w{4,}", text.lower())} for text in (fact.question, fact.sentence))
        assert not question & sentence
    for fact in islice(all_facts(0, STATED), 50):
        assert {*re.findall(r"\w{4,}", fact.question.lower())} & {*re.findall(r"\w{4,}", fact.sentence.lower())}


def answer_of(prompt: str, question: str) -> str:
    """A reader that knows no fact: the sentence with the made-up name that the question ends with, and, if that names
    another person or thing, the further sentence about it.
    """
    context = prompt.rpartition("\n\nQuestion:")[0]
    sentences = re.split(r"(?<=[.!?])\s", context)
    place = re.findall(r"[A-Z]\w+", question)[-1]
    first = next((sentence for sentence in sentences if re.search(rf"\b{place}\b", sentence)), "")
    names = [name for name in re.findall(r"\b[A-Z]\w+\b", first) if name != place]
    further = (s for s in sentences if s != first and any(re.search(rf"\b{name}\b", s) for name in names[-2:]))
    return f"{first} {' '.join(s for s in further if any(name in s for name in names[-1:]))}"


@pytest.mark.parametrize(("group", "size"), [(STATED, 12), (STATED, 6), (LINKED, 12), (LINKED, 4)])
def test_a_perfect_reader_is_right_at_every_depth_and_length(group, size, passages, tmp_path):
    for made in examples(passages, group, tmp_path, size).values():
        assert all(has_answer(answer_of(e.prompt, e.question), e.targets[0].answers) for e in made)


def test_a_reader_of_the_last_characters_is_right_at_exactly_the_depths_that_it_can_see(passages, tmp_path):
    for seen_from in (0, 4, 7, 12):
        for place, made in examples(passages, STATED, tmp_path).items():
            for example in made:
                start = example.prompt.find(f"Document [{seen_from + 1}]") % len(example.prompt)
                answer = answer_of(example.prompt[start:], example.question)
                assert has_answer(answer, example.targets[0].answers) == (place >= seen_from)


@pytest.mark.parametrize("group", [STATED, LINKED])
@pytest.mark.parametrize("language", LANGUAGES)
def test_in_a_text_of_another_language_facts_are_at_their_places_and_can_be_read(language, group, tmp_path):
    sentence = LANGUAGES[language]
    (tmp_path / "docs").mkdir()
    for number in range(SIZE):
        text = "".join(sentence.format(f"{number}{line}") for line in range(40))
        (tmp_path / "docs" / f"{number}.md").write_text(f"# {number}\n\n{text}", encoding="utf-8")
    own = [passage for _, passage in read_source("documents", tmp_path / "docs", CorpusSettings(100))]
    for place, made in examples(own, group, tmp_path).items():
        for example in made:
            (answer, *_), target = example.targets[0].answers, example.targets[0]
            assert example.prompt.count(answer) == 1 and answer in documents(example.prompt)[place]
            assert has_answer(read_answer(example.prompt, example.question), target.answers)


def test_a_fact_that_the_text_has_is_not_used(passages):
    first, second = islice(all_facts(5, STATED), 2)
    own = [*passages, Passage("x", "", f"We wrote: {first.sentence}")]
    records = [record.text for record in planted_records(own, STATED, 3, SIZE, seed=5)]
    assert first.question not in records and second.question in records


def test_a_text_of_such_facts_or_of_too_few_passages_is_refused(passages):
    with pytest.raises(UserError, match="already contains most of the made-up facts"):
        new_facts(0, STATED, 2, lambda part: True)
    with pytest.raises(UserError, match="has 5 passages, and a context needs 12"):
        list(planted_records(passages[:5], STATED, 3, SIZE, seed=5))


def test_facts_depend_on_the_seed_and_more_of_them_keep_the_first(passages):
    few, more = ([r.to_json() for r in planted_records(passages, STATED, n, SIZE, 1)] for n in (3, 6))
    assert more[:3] == few
    assert few[0] != next(iter(planted_records(passages, STATED, 1, SIZE, 2))).to_json()

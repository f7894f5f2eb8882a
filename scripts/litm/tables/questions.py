"""Tables of prompts, questions, documents and retrieval."""

from typing import Annotated, TypedDict

from litm.tables import columns as col
from litm.tables.table import SHOWN, Heading, declare, shown


@declare("token_counts", "Prompt tokens", inputs=("token_counts",))
class TokenCountsRow(TypedDict, total=False):
    """Tokens of the prompts of each model and cell, in the model's own prompt format; of models with recorded responses
    where their entry names a `tokenizer`.

    Tokens of a prompt in the model's own format, special tokens included; SD is the sample standard deviation. Depth of
    gold: the place of the gold item's middle in these tokens, in per cent. With special tokens: prompts whose question
    or documents contain a text that the tokenizer reads as a special token. Tokenizers of LLaMA's family
    (SentencePiece) count as converted by transformers, and prompts are asked in the same way: a text with several
    consecutive spaces has one or two tokens more than by SentencePiece itself (333 of the paper's 2,655 oracle prompts,
    a mean of 219.80 for the printed 219.7).
    """

    model: Annotated[col.Model, SHOWN]
    experiment: Annotated[col.Experiment, SHOWN]
    size: Annotated[col.Size, SHOWN]
    placement: Annotated[col.Placement, SHOWN]
    n: Annotated[col.Integer, shown("n")]
    """prompts"""
    tokens_mean: Annotated[col.Number, shown("Mean")]
    """mean of their tokens"""
    tokens_sd: Annotated[col.Number, shown("SD")]
    """sample standard deviation"""
    tokens_min: Annotated[col.Integer, shown("Min")]
    """the shortest"""
    tokens_max: Annotated[col.Integer, shown("Max")]
    """the longest"""
    n_special_tokens: Annotated[col.Integer, shown("With special tokens")]
    """prompts whose question or documents contain a text that the tokenizer reads as a special token, such as
    `<|endoftext|>`; they are asked unchanged"""
    n_gold_located: col.Integer
    """prompts whose gold items all have a known place in tokens"""
    gold_first_token: col.Number
    """mean index of the first token of the gold items"""
    gold_last_token: col.Number
    """mean index of the last"""
    gold_depth_tokens: Annotated[col.Percent, shown("Depth of gold")]
    """mean place of their middle, 0 the prompt's first token and 1 its last"""


@declare(
    "answer_checks",
    "Gold answers to be careful with",
    inputs=("examples",),
    settings=("example_experiments",),
    rows="analysis.cells.answer_checks_table",
)
class AnswerChecksRow(TypedDict, total=False):
    """Questions whose gold answers need care: symbols only, two characters or fewer, contained in the question or in a
    distractor, or not contained in the gold item.

    Symbols only: a gold answer that is empty after normalisation, so it is searched for as written. In the question, or
    in a distractor: a model can be right by repeating it. Not in the gold item: a model that reads it can hardly be
    right.
    """

    experiment: Annotated[col.Experiment, SHOWN]
    size: Annotated[col.Size, SHOWN]
    n: Annotated[col.Integer, shown("Questions")]
    """questions"""
    n_symbols_only: Annotated[col.Integer, shown("Symbols only")]
    """questions with a gold answer that is empty after normalisation; it is searched for as written"""
    n_short: Annotated[col.Integer, shown("Two characters or fewer")]
    """questions with a gold answer of at most two characters"""
    n_in_question: Annotated[col.Integer, shown("In the question")]
    """questions with a gold answer that the question contains"""
    n_in_distractors: Annotated[col.Integer, shown("In a distractor")]
    """questions with a gold answer in an item other than the gold one, by the metric"""
    n_not_in_gold: Annotated[col.Integer, shown("Not in the gold item")]
    """questions with a gold item that has none of the answers, by the metric; missing for other metrics than
    best_subspan_em and whole_words"""
    n_choices: Annotated[col.Integer, shown("Yes, no or a letter")]
    """questions whose answers are all yes, no, true, false or a single letter"""
    chance: Annotated[col.Percent, Heading("Most common of these")]
    """the share of these questions that have the commonest of these answers, which a model reaches that always gives
    it"""


@declare("candidates", "Candidates", inputs=("candidates",))
class CandidatesRow(TypedDict, total=False):
    """Candidates: questions kept and left out, and questions with an answer in a document other than the gold one, by
    each check.

    Documents per question, with the gold document; questions left out because they have fewer; and questions with an
    answer in a document other than the gold one, by DPR's check (consecutive tokens) and by the metric.
    """

    candidates: Annotated[col.Text, shown("Candidates")]
    """name of the candidates"""
    kind: Annotated[col.Text, shown("Kind")]
    """how they were made"""
    distractor_check: col.Text
    """the check that distractors passed"""
    documents: Annotated[col.Integer, shown("Documents")]
    """documents per question, with the gold document"""
    n: Annotated[col.Integer, shown("Questions")]
    """questions"""
    n_left_out: Annotated[col.Integer, shown("Left out")]
    """questions with fewer documents"""
    n_filled: Annotated[col.Integer, shown("Filled up")]
    """questions that were filled up with random passages (`too_few: fill`)"""
    n_gold_without_answer: Annotated[col.Integer, shown("Gold without answer")]
    """questions whose gold document lacks all answers, by DPR's check; by `words` where that is the check of
    distractors"""
    n_answer_in_others_dpr: Annotated[col.Integer, shown("Answer elsewhere (DPR)")]
    """questions with an answer in a document other than the gold one (for `as_retrieved` in any document), by DPR's
    check"""
    n_answer_in_others_metric: Annotated[col.Integer, shown("Answer elsewhere (metric)")]
    """the same by best_subspan_em"""
    n_answer_in_others_words: Annotated[col.Integer, shown("Answer elsewhere (words)")]
    """the same by whole_words; missing unless it is the check of distractors"""


@declare("gold_passages", "Gold passages", inputs=("gold_passages",))
class GoldPassagesRow(TypedDict, total=False):
    """The gold passage of each of your own questions, and how it was found. To correct some, copy the file, change the
    column `passage`, and name the copy as `corrections`."""

    questions: col.Text
    """name of the questions"""
    line: col.Integer
    """line of the question in your file"""
    question: col.Text
    """the question"""
    answers: col.Text
    """its answers, with | between them"""
    how: col.Text
    """`file`, `page` or `text` (you named it by these), `first_retrieved` (the first passage retrieved that has an
    answer, as whole words), `corrected` (by you), `none` (left out), `left_out` (by you)"""
    passage: col.Text
    """id of the passage; empty for a question that is left out"""
    rank: col.Integer
    """its rank among the passages retrieved, from 1; empty if it is not among them"""
    n_with_answer: col.Integer
    """passages that have an answer, among those retrieved and named"""
    note: col.Text
    """a remark to check"""
    excerpt: col.Text
    """the words around the answer"""
    found: col.Text
    """id of the passage before your correction; in a copy, rows whose `passage` equals it change nothing"""
    written_by: col.Text
    """the model that wrote the question, as the column `written_by` of your file says; empty without it"""


@declare("written_questions", "Questions written by a model", inputs=("written_questions",))
class WrittenQuestionsRow(TypedDict, total=False):
    """The question that a model wrote about each drawn passage, and what became of it. Experiments ask those that are
    kept, and results/written_questions has these as a table of questions to edit."""

    questions: col.Text
    """name of the questions"""
    written_by: col.Text
    """the model that wrote them"""
    checked_by: col.Text
    """the model that answered them, with their passage and without it"""
    passage: col.Text
    """id of the passage"""
    question: col.Text
    """the question; empty if the reply has none"""
    written_answer: col.Text
    """its answer as the model wrote it"""
    outcome: col.Text
    """`kept`, or the first of these that is true: `no_reply`, `no_pair` (the reply has no question with an answer),
    `not_in_passage`, `in_question` (the question contains its answer), `repeated`, `in_several` (another passage has
    the answer too), `not_answered` (with the passage), `known` (answered without the passage)"""


@declare("gold_counts", "Gold passages of your questions")
class GoldCountsRow(TypedDict, total=False):
    """Numbers of gold passages of your own questions, by the way they were found. The report makes this table of
    gold_passages.csv, and saves it.

    The way the passage with the answer was found: named by you by file, page or text; the first retrieved with an
    answer; corrected by you. Questions without one are left out of experiments that need it.
    results/tables/gold_passages.csv lists each question, for you to check and correct.
    """

    questions: Annotated[col.Text, shown("Questions")]
    """name of the questions"""
    how: Annotated[col.Text, shown("Gold passage")]
    """how the passages were found, as in gold_passages.csv"""
    n: Annotated[col.Integer, shown("n")]
    """questions"""
    n_several: Annotated[col.Integer, shown("Answer in several")]
    """questions with an answer in several passages"""
    n_to_look_at: Annotated[col.Integer, shown("To look at")]
    """questions with a `note`"""


@declare("retrieval", "Retrieval", inputs=("recalls",))
class RetrievalRow(TypedDict, total=False):
    """Recall of each retriever: the share of questions with an answer among the first k passages, with its 95 %
    interval.

    Recall: fraction of questions with an answer among the first passages found, with its 95 % interval. Gold passage:
    fraction of questions whose gold passage is among them, if it is in the corpus. Against exact search: fraction of
    exact search's hits that an approximate index finds.
    """

    questions: Annotated[col.Text, shown("Questions")]
    """name of the questions"""
    corpus: Annotated[col.Text, shown("Corpus")]
    """name of the corpus"""
    retriever: Annotated[col.Text, shown("Retriever")]
    """name of the retriever; for a dataset of retrieved documents all three names are the dataset's"""
    k: Annotated[col.Integer, shown("Passages")]
    """how many passages"""
    n: Annotated[col.Integer, shown("n")]
    """how many questions"""
    recall: Annotated[col.Percent, shown("Recall")]
    """share of questions with an answer in one of the first `k` passages, by DPR's check"""
    ci_low: Annotated[col.Percent, shown("95 % from")]
    """lower 95 % limit, as in accuracy.csv"""
    ci_high: Annotated[col.Percent, shown("to")]
    """upper 95 % limit"""
    n_gold: col.Integer
    """questions whose gold document is a passage of the corpus"""
    recall_gold: Annotated[col.Percent, shown("Gold passage")]
    """fraction of these for which it is one of the first `k`"""
    recall_against_exact: Annotated[col.Percent, shown("Against exact search")]
    """for an approximate index: the fraction of exact search's hits that it finds; empty for others"""
    n_against_exact: col.Integer
    """questions on which that was measured"""

"""The reference model as shipped: it finds answers in documents, and its card says what it is and what trained it."""

import re
import subprocess
from random import Random

import pytest
from conftest import ROOT
from transformers import AutoModelForCausalLM, AutoTokenizer

from litm.base.json_files import read_json
from litm.corpora.made_up import FAMILY_SIZE, Article, make_articles
from litm.examples.examples import make_example, read_template
from litm.examples.tasks.question_answering import multi_document_qa
from litm.records.questions import Gold, Question

FOLDER = ROOT / "resources" / "reference_model"
CARD = (FOLDER / "README.md").read_text()
#: Articles in families of similar names, that no lesson had.
ARTICLES = list(make_articles("mini_encyclopedia", 0, 40 * FAMILY_SIZE))


def test_the_card_has_the_sizes_of_the_network_and_the_folder_stays_small():
    config = read_json(FOLDER / "config.json")
    layers, width, heads = (config[f"{key}"] for key in ("num_hidden_layers", "hidden_size", "num_attention_heads"))
    sizes = f"{layers} layers, width {width}, {heads} heads, feed-forward {config['intermediate_size']}"
    assert f"`{config['architectures'][0]}`: {sizes}" in CARD
    assert f"{config['vocab_size']} tokens" in CARD
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 10_000_000


def test_the_commit_that_the_card_names_has_the_recipe_and_made_these_weights():
    (commit,) = set(re.findall(r"\b[0-9a-f]{40}\b", CARD))
    git = ["git", "-C", str(ROOT)]
    if subprocess.run([*git, "cat-file", "-e", commit], capture_output=True).returncode:
        pytest.skip("this checkout has no history")
    # Git names a file by its content.
    recipe = subprocess.run([*git, "cat-file", "-e", f"{commit}:config/reference_model.yaml"], capture_output=True)
    of_commit = [*git, "rev-parse", f"{commit}:resources/reference_model/model.safetensors"]
    here = [*git, "hash-object", "resources/reference_model/model.safetensors"]
    assert recipe.returncode == 0
    assert subprocess.check_output(of_commit) == subprocess.check_output(here)


def asked_of(article: Article, among: int, rng: Random) -> Question:
    """The question about an article, with articles of its family and of others as distractors."""
    family = [other for other in ARTICLES if other.id[:5] == article.id[:5] and other != article]
    others = [*rng.sample(family, min(among // 2, len(family))), *rng.sample(ARTICLES, among)]
    distractors = [(other.title, other.text) for other in others if other != article][: among - 1]
    gold = Gold("gold", (article.title, article.text), article.answers)
    return Question(article.id, article.question, (gold,), tuple(distractors))


@pytest.mark.long
# By chance it would be 13 and 4 of 40.
@pytest.mark.parametrize(("documents", "least"), [(3, 30), (10, 22)])
def test_the_shipped_model_finds_answers_in_documents(documents, least):
    model, tokenizer = AutoModelForCausalLM.from_pretrained(FOLDER), AutoTokenizer.from_pretrained(FOLDER)
    template = read_template(ROOT / "resources" / "prompts" / "multi_document_qa.txt")
    rng, right = Random(8), 0
    for article in rng.sample(ARTICLES, 40):
        question = asked_of(article, documents, rng)
        placement = f"gold_at_{rng.randrange(documents)}"
        prompt = make_example(question, documents, placement, template, multi_document_qa).prompt
        inputs = tokenizer(prompt, return_tensors="pt")
        output = model.generate(**inputs, max_new_tokens=20)[0, inputs["input_ids"].shape[1] :]
        right += tokenizer.decode(output, skip_special_tokens=True).strip() in article.answers
    assert right >= least

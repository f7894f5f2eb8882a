"""The plan of data, examples and fetched files: inputs and params of their jobs."""

import json
from pathlib import Path

import pytest
from conftest import ROOT
from plans import SHA256, of, plan

pytestmark = pytest.mark.usefixtures("in_the_project")


# Questions, corpora and retrieval


def test_a_generated_corpus_reads_no_file_and_has_questions(demo):
    corpus, questions = of(corpus="mini_encyclopedia"), of(generated="mini_encyclopedia_questions")
    assert demo.corpora.files(corpus) == [] and demo.corpora.location(corpus) == ""
    assert demo.corpora.source(corpus) == demo.questions.generator(questions) == "mini_encyclopedia"
    settings = '{"passage_words":null,"passages":3000,"seed":0}'
    assert demo.corpora.settings(corpus) == demo.questions.generator_settings(questions) == settings
    assert demo.corpora.code(corpus)[0] == "scripts/corpora/make_passages.py"
    assert "scripts/litm/corpora/made_up.py" in demo.corpora.code(corpus)
    assert demo.questions.generator_code(questions)[0] == "scripts/corpora/generate_questions.py"


def test_a_corpus_is_read_from_a_fetched_dataset_or_from_the_user_s_files(paper, other):
    wikipedia, notes = of(corpus="wikipedia_2018"), of(corpus="notes")
    assert paper.corpora.files(wikipedia) == ["results/data/psgs_w100.tsv.gz"]
    assert paper.corpora.location(wikipedia) == "results/data/psgs_w100.tsv.gz"
    assert (paper.corpora.shards(wikipedia), paper.corpora.passages_per_shard(wikipedia)) == (43, 500_000)
    assert other.corpora.files(notes) == ["notes/a.txt"] and other.corpora.location(notes) == "notes"


def test_questions_are_generated_or_derived(paper):
    assert paper.questions.generated == ["mini_encyclopedia_questions", "mini_gazetteer_questions"]
    assert "mini_encyclopedia_questions" not in paper.questions.derived
    derived = of(derived=paper.questions.derived[0])
    assert Path(paper.questions.nq_open(derived)).parent == Path("results/data")
    assert paper.questions.annotations(derived)


def test_a_file_is_the_user_s_or_fetched_or_made(other):
    assert other.data.file("asked") == "asked.jsonl"
    assert other.data.file("far") == "results/data/far.jsonl.gz"
    assert other.data.file("by_near") == "results/candidates/by_near.jsonl.gz"
    assert other.data.file("mini_encyclopedia_questions") == "results/questions/mini_encyclopedia_questions.jsonl.gz"


def test_a_remote_file_has_its_address_its_sum_and_the_mirror(other):
    file = of(file="far.jsonl.gz")
    assert other.data.url(file) == "https://example.org/a/far.jsonl.gz" and other.data.checksum(file) == SHA256
    assert other.data.mirror == "mirror"


def test_bm25_searches_one_index_with_no_more_threads_than_shards(demo, paper):
    search = of(corpus="mini_encyclopedia", retriever="bm25")
    assert demo.retrieval.indexes(search) == ["results/indexes/mini_encyclopedia/bm25.json"]
    assert demo.retrieval.vectors(search) == demo.retrieval.encoder(search) == []
    assert demo.retrieval.bm25_threads(search) == demo.retrieval.search_threads(search) == 1
    assert paper.retrieval.bm25_threads(of(corpus="wikipedia_2018")) == 8
    assert demo.retrieval.gpu(search) == demo.retrieval.batch_tokens(search) == 0
    assert demo.retrieval.search_settings(search) == '{"b":0.4,"hits":100,"k1":0.9}'


def test_an_exact_search_reads_the_vectors_of_all_shards_and_no_index(other):
    search = of(corpus="notes", retriever="exact")
    assert other.retrieval.vectors(search) == [f"results/vectors/notes/exact/{shard}.json" for shard in (0, 1)]
    assert other.retrieval.indexes(search) == []
    assert other.retrieval.encoder(search) == ["results/retrievers/exact.json"]
    assert other.retrieval.encoder_location(search) == '{"hub":"someone/encoder","path":null,"revision":null}'
    assert (other.retrieval.threads(search), other.retrieval.search_threads(search)) == (8, 2)
    assert (other.retrieval.device(search), other.retrieval.gpu(search)) == ("auto", 1)


def test_an_approximate_search_has_an_index_a_shard(other):
    search = of(corpus="notes", retriever="near")
    assert other.retrieval.indexes(search) == [f"results/indexes/notes/near/{shard}.json" for shard in (0, 1)]
    assert other.retrieval.index_settings(search) == '{"explored":256,"kind":"hnsw","links":32}'
    assert other.retrieval.index_memory(search) == 600
    assert (other.retrieval.gpu(search), other.retrieval.batch_tokens(search)) == (0, 9)


def test_candidates_are_made_of_what_was_retrieved_or_drawn(other):
    near, drawn = of(candidates="by_near"), of(candidates="drawn")
    assert other.candidates.questions(near) == "results/data/far.jsonl.gz"
    assert other.candidates.retrieved(near) == ["results/retrieved/notes/near/far.jsonl.gz"]
    assert other.candidates.retrieved(drawn) == []
    assert other.candidates.passages(drawn) == "results/passages/mini_encyclopedia/manifest.json"
    assert json.loads(other.candidates.settings(near)) == {
        "kind": "gold_and_retrieved", "documents": 5, "distractor_check": "dpr", "too_few": "error", "seed": None
    }  # fmt: skip


# Examples


def test_the_examples_of_an_experiment_are_those_of_its_cells(demo, other):
    files = demo.examples.files(of(experiment="kv_retrieval_small"))
    assert len(files) == 13
    assert files[0] == "results/examples/kv_retrieval_small/10/gold_at_0.jsonl.gz"
    assert files[-1] == "results/examples/kv_retrieval_small/50/gold_at_49.jsonl.gz"
    assert other.examples.files(of(experiment="open")) == [
        f"results/examples/open/{size}/as_retrieved.jsonl.gz" for size in (2, 4)
    ]


def test_questions_of_a_size_come_from_its_dataset_and_a_subset_of_them_from_labels(other):
    assert other.examples.dataset(of(experiment="qa", size="3")) == ["results/candidates/by_near.jsonl.gz"]
    assert other.examples.dataset(of(experiment="qa", size="4")) == ["results/candidates/drawn.jsonl.gz"]
    assert other.examples.labels(of(experiment="qa")) == ["kept.txt"]


def test_generated_examples_have_neither(demo):
    assert demo.examples.dataset(of(experiment="kv_retrieval_small", size="10")) == []
    assert demo.examples.labels(of(experiment="kv_retrieval_small")) == []
    assert demo.examples.generated(of(experiment="kv_retrieval_small")) == "--generated"
    assert demo.examples.generated(of(experiment="mini_encyclopedia_qa")) == ""


def test_examples_are_made_by_the_task_with_its_prompt(demo):
    experiment = of(experiment="kv_retrieval_small")
    code = demo.examples.code(experiment)
    assert code[0] == "scripts/examples/make_examples.py" and "scripts/litm/examples/tasks/kv_retrieval.py" in code
    assert "scripts/litm/examples/tasks/multi_document_qa.py" not in code
    assert demo.examples.prompt(experiment) == "resources/prompts/kv_retrieval.txt"
    assert (demo.examples.task(experiment), demo.examples.metric(experiment)) == ("kv_retrieval", "value_in_answer")
    assert demo.examples.design(experiment) == "move_the_pair"
    assert json.loads(demo.examples.settings(experiment))["seed"] == 0


def test_sizes_in_tokens_are_found_with_the_tokenizer_of_their_model(other):
    size = of(experiment="kv_in_tokens", size="500")
    assert other.examples.items(size) == ["results/sizes/kv_in_tokens/500.json"]
    assert other.examples.items(of(experiment="kv", size="4")) == []
    assert other.sizes.placements(size) == ["gold_at_depth_0", "gold_at_depth_0.5", "gold_at_depth_1"]
    assert other.sizes.tokenizer_source(size) == ["results/models/counter.json"]
    assert other.sizes.tokenizer_files(size) == [] and other.sizes.tokenizer(size) == ""
    assert other.sizes.prompt_template(size) == "vicuna_v1_1"
    assert [Path(path).name for path in other.sizes.template(size)] == ["vicuna_v1_1.txt"]
    assert Path(other.sizes.code(size)[0]).name == "find_size.py"


def test_what_is_fetched_is_what_experiments_and_models_name(paper, other):
    assert sorted(map(Path.as_posix, map(Path, paper.fetch.files))) == [
        f"results/data/{name}"
        for name in (
            "gpt-neox-20b.tokenizer.json", "kv-retrieval-140_keys.jsonl.gz", "kv-retrieval-300_keys.jsonl.gz",
            "kv-retrieval-75_keys.jsonl.gz", "nq-open-10_total_documents_gold_at_0.v1.jsonl.gz",
            "nq-open-20_total_documents_gold_at_0.v1.jsonl.gz", "nq-open-30_total_documents_gold_at_0.v1.jsonl.gz",
            "nq-open-oracle.jsonl.gz", "psgs_w100.tsv.gz",
        )
    ]  # fmt: skip
    assert paper.fetch.sources[-1] == "results/retrievers/contriever.json"
    assert other.fetch.sources == [
        *(f"results/models/{name}.json" for name in ("counter", "here", "chat", "completions", "keyless", "parts")),
        "results/retrievers/near.json",
    ]


def test_paths_of_the_project_are_relative_to_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    moved = plan()
    assert Path(moved.paper.accuracy).resolve() == ROOT / "resources" / "published" / "accuracy.csv"
    assert not Path(moved.paper.accuracy).is_absolute()
    assert Path(moved.code("score.py")[0]).resolve() == ROOT / "scripts" / "scoring" / "score.py"
    assert moved.reference_model.recipe == moved.project.file("config", "reference_model.yaml")

"""The plan: inputs, params and resources of each rule for a config."""

import json
import shlex
import shutil
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from conftest import ROOT, write_lines
from gguf_files import write_gguf

from litm.base.errors import UserError
from litm.workflow.checks import EstimatePlan
from litm.workflow.plan import Plan, load_plan

TOKENIZER = [
    f"resources/reference_model/{name}.json"
    for name in ("config", "generation_config", "tokenizer", "tokenizer_config")
]
SHA256 = "0" * 64
#: One of everything that the configs of config/ do not have.
OTHER = {
    "models": ["here", "chat", "completions", "keyless", "recorded", "parts"],
    "experiments": ["kv", "kv_in_tokens", "qa", "open", "oracle", "closed"],
    "only": {"recorded": ["qa", "closed"]},
    "data_mirror": "mirror",
    "define": {
        "datasets": {
            "asked": {"path": "asked.jsonl"},
            "tokenizer": {"url": "https://example.org/tokenizer.json", "sha256": SHA256},
            "far": {"url": "https://example.org/a/far.jsonl.gz", "sha256": SHA256},
            "kept": {"path": "kept.txt", "labels": "txt"},
        },
        "corpora": {"notes": {"source": "documents", "path": "notes", "shards": 2, "passages_per_shard": 11_000}},
        "retrievers": {
            "exact": {"method": "dense", "hub": "someone/encoder", "threads": 8},
            "near": {"method": "dense", "hub": "someone/encoder", "index": "hnsw", "device": "cpu", "batch_tokens": 9},
            "words": {"method": "bm25"},
        },
        "candidates": {
            "by_near": {"questions": "far", "corpus": "notes", "retriever": "near", "documents": 5},
            "by_words": {
                "questions": "asked", "corpus": "notes", "retriever": "words", "documents": 6, "kind": "as_retrieved"
            },
            "drawn": {
                "questions": "asked", "corpus": "mini_encyclopedia", "documents": 6, "kind": "gold_and_random"
            },
        },
        "models": {
            "here": {
                "engine": "transformers", "path": "resources/reference_model", "device": "cpu", "mem_mb": 100,
                "context_window": 100,
            },
            "chat": {
                "engine": "openai", "api_model": "gpt", "base_url": "http://localhost/v1", "concurrency": 3,
                "request_timeout": 50, "request_attempts": 4, "prices": {"input": 1, "output": 2},
            },
            "completions": {
                "engine": "openai", "api_model": "gpt", "endpoint": "completions", "context_window": 100,
                "tokenizer": "resources/reference_model",
            },
            "keyless": {"engine": "anthropic", "api_model": "c", "tokenizer": "tokenizer"},
            "recorded": {
                "engine": "recorded", "responses": {"qa": "answers.jsonl", "closed": "far"},
                "fields": {"response": "r", "id": "i", "prompt": "p"},
            },
            "parts": {
                "engine": "vllm", "hub": "someone/x-7b-chat", "prompt_template": "chat", "shards": 3, "gpus": 2,
                "gpu_model": "a100", "tokenizer": "tokenizer", "on_failure": "count", "context_window": 4096,
                "batch_tokens": 99, "threads": 4, "tokens_per_second": 10,
            },
            "counter": {"engine": "transformers", "hub": "someone/y", "prompt_template": "vicuna_v1_1"},
        },
        "experiments": {
            "kv": {"task": "kv_retrieval", "positions": {4: [0, 3], 6: [0, 5]}, "examples": 3},
            "kv_in_tokens": {
                "task": "kv_retrieval", "tokens_of": "counter", "depths": {500: [0, 0.5, 1], 900: [0, 1]}, "examples": 3
            },
            "qa": {
                "task": "multi_document_qa", "dataset": {3: "by_near", 4: "drawn"}, "positions": {3: [0, 2], 4: [1]},
                "subset": "kept", "closed_book": "closed", "oracle": "oracle",
            },
            "open": {"task": "open_domain_qa", "dataset": "by_words", "sizes": [2, 4]},
            "oracle": {"task": "oracle_qa", "dataset": "asked"},
            "closed": {"task": "closed_book_qa", "dataset": "asked"},
        },
    },
}  # fmt: skip


def of(**wildcards: str) -> SimpleNamespace:
    """The wildcards of a job."""
    return SimpleNamespace(**wildcards)


def plan(name: str = "toy", **changes: object) -> Plan:
    """The plan of one of the configs in config/, run in the project's folder."""
    files = [ROOT / "config" / "config.yaml", ROOT / "config" / f"{name}.yaml"]
    config = {key: value for file in files for key, value in yaml.safe_load(file.read_text()).items()}
    return load_plan({**config, **changes}, ROOT)


@pytest.fixture(autouse=True)
def _in_the_project(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="module")
def demo() -> Plan:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return plan()


@pytest.fixture(scope="module")
def paper() -> Plan:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return plan("paper")


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory) -> tuple[Path, Plan]:
    """A folder that has the user's files, and a plan with one of everything that is to be run there."""
    folder = tmp_path_factory.mktemp("elsewhere")
    for name in ("asked.jsonl", "answers.jsonl"):
        write_lines(folder / name, ["{}"])
    (folder / "kept.txt").write_text("0")
    for name in ("notes", "mirror"):
        (folder / name).mkdir()
        (folder / name / "a.txt").write_text("a")
    (folder / "resources").symlink_to(ROOT / "resources")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return folder, plan(**OTHER)


@pytest.fixture
def other(elsewhere, monkeypatch) -> Plan:
    """The plan with one of everything, in its folder."""
    folder, one = elsewhere
    monkeypatch.chdir(folder)
    return one


# Questions, corpora and retrieval


def test_a_generated_corpus_reads_no_file_and_has_questions(demo):
    corpus, questions = of(corpus="mini_encyclopedia"), of(generated="mini_encyclopedia_questions")
    assert demo.corpora.files(corpus) == [] and demo.corpora.location(corpus) == ""
    assert demo.corpora.source(corpus) == demo.questions.generator(questions) == "mini_encyclopedia"
    settings = '{"passage_words":null,"passages":3000,"seed":0}'
    assert demo.corpora.settings(corpus) == demo.questions.generator_settings(questions) == settings
    assert demo.corpora.code(corpus)[0] == "scripts/corpora/make_passages.py"
    assert "scripts/litm/corpora/sources/mini_encyclopedia.py" in demo.corpora.code(corpus)
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


# Models


def test_a_model_in_a_folder_is_its_files(demo):
    model = of(model="reference")
    assert "resources/reference_model/model.safetensors" in demo.models.folder(model)
    assert demo.models.tokenizer_files(model) == TOKENIZER
    assert demo.models.tokenizer(model) == "resources/reference_model"
    assert demo.models.own_tokenizer(model) == "" and demo.models.identified_tokenizer(model) == []
    assert demo.models.tokenizer_source(model) == demo.models.template(model) == []
    assert demo.models.prompt_template(model) == "raw" and demo.models.reasoning(model) == "{}"
    assert demo.models.location(model) == '{"hub":null,"path":"resources/reference_model","revision":null}'


def test_a_model_of_the_hub_is_known_by_its_commit_and_a_tokenizer_beside_it_by_its_file(paper):
    longchat, mpt = of(model="longchat-13b-16k"), of(model="mpt-30b-instruct")
    assert paper.models.folder(longchat) == paper.models.tokenizer_files(longchat) == []
    assert paper.models.tokenizer_source(longchat) == ["results/models/longchat-13b-16k.json"]
    file = "results/data/gpt-neox-20b.tokenizer.json"
    assert paper.models.tokenizer_files(mpt) == paper.models.identified_tokenizer(mpt) == [file]
    assert paper.models.own_tokenizer(mpt) == paper.models.tokenizer(mpt) == file
    assert paper.models.tokenizer_source(mpt) == []
    assert paper.models.template(mpt) == ["resources/prompt_templates/mpt_instruct.txt"]
    assert (paper.models.context_window(mpt), paper.models.context_window(longchat)) == (16384, 16384)


def test_a_gguf_file_is_its_model_and_its_tokenizer_is_where_the_file_was_unpacked_to(tmp_path):
    path = tmp_path / "m-instruct.gguf"
    write_gguf(path)
    models = {"m": {"engine": "transformers", "path": str(path), "dtype": "bfloat16", "context_window": 128}}
    config = {"models": ["m"], "experiments": ["kv_retrieval_small"], "seed": 0, "define": {"models": models}}
    plan, model = load_plan(config, ROOT), of(model="m", experiment="kv_retrieval_small")
    assert plan.models.folder(model) == [str(path)]
    assert json.loads(plan.models.location(model))["dtype"] == "bfloat16"
    assert plan.models.tokenizer_files(model) == [] and plan.models.tokenizer(model) == ""
    assert plan.models.tokenizer_source(model) == plan.estimate.source(model) == ["results/models/m.json"]
    assert plan.models.prompt_template(model) == "chat" and plan.models.counted == ["m"]


def test_the_tokenizer_of_a_server_s_model_counts_tokens_and_does_not_say_which_model_it_is(other):
    chat, completions, keyless = of(model="chat"), of(model="completions"), of(model="keyless")
    assert other.models.tokenizer_files(chat) == other.models.folder(chat) == []
    assert other.models.tokenizer_files(completions) == TOKENIZER
    assert other.models.tokenizer_files(keyless) == ["results/data/tokenizer.json"]
    assert other.models.identified_tokenizer(completions) == other.models.tokenizer_source(completions) == []
    assert set(other.models.counted) == {"here", "completions", "keyless", "parts", "counter"}


# Inference


def test_a_sweep_is_asked_with_what_changes_its_answers(demo):
    sweep = of(model="reference", experiment="kv_retrieval_small")
    assert demo.inference.settings(sweep) == (
        '{"attention":"sdpa","dtype":"float32","engine":"transformers","prompt_template":"raw"}'
    )
    assert demo.inference.decoding(sweep) == '{"max_new_tokens":120,"stop":"end_token"}'
    assert (demo.inference.on_failure(sweep), demo.inference.on_overflow(sweep)) == ("stop", "leave_out")
    code = demo.inference.code(sweep)
    assert code[0] == "scripts/inference/generate.py" and "scripts/litm/inference/engines/transformers.py" in code
    assert "scripts/litm/inference/engines/vllm.py" not in code


def test_a_model_on_a_processor_takes_no_gpu(demo):
    sweep = of(model="reference", experiment="kv_retrieval_small")
    assert (demo.inference.gpus(sweep), demo.inference.gpu_model(sweep), demo.inference.threads(sweep)) == (0, "", 1)
    assert json.loads(demo.inference.run(sweep)) == {"device": "cpu", "batch_tokens": 16384}


def test_a_server_s_model_takes_requests_and_nothing_of_this_machine(other):
    sweep = of(model="chat", experiment="kv")
    asked_how = {"request_timeout": 50, "request_total_timeout": None, "request_attempts": 4}
    assert json.loads(other.inference.run(sweep)) == {"concurrency": 3, **asked_how}
    assert (other.inference.gpus(sweep), other.inference.gpu_model(sweep), other.inference.threads(sweep)) == (0, "", 1)


def test_a_sweep_in_parts_has_its_gpus_in_the_parts_and_is_gathered_by_a_job_without(other):
    whole = of(model="parts", experiment="kv")
    part = of(model="parts", experiment="kv", part="2_of_3")
    assert other.inference.part_responses(whole) == [
        f"results/parts/parts/kv/{part}.jsonl.gz" for part in ("1_of_3", "2_of_3", "3_of_3")
    ]
    assert other.inference.part_responses(part) == []
    assert (other.inference.part_option(whole), other.inference.part_option(part)) == ("--gather", "--shard 2_of_3")
    assert (other.inference.gpus(whole), other.inference.gpus(part)) == (0, 2)
    assert (other.inference.gpu_model(whole), other.inference.gpu_model(part)) == ("", "a100")


def test_an_undivided_sweep_has_no_parts(demo):
    sweep = of(model="reference", experiment="kv_retrieval_small")
    assert demo.inference.part_responses(sweep) == [] and demo.inference.part_option(sweep) == ""


def test_a_job_asks_for_more_memory_and_time_at_its_second_attempt(other):
    here, parts = of(model="here", experiment="kv"), of(model="parts", experiment="qa")
    assert (other.inference.memory(here, 1), other.inference.memory(here, 2)) == (100, 200)
    assert (other.inference.minutes(here, 1), other.inference.minutes(here, 2)) == (30, 60)
    assert other.inference.minutes(parts, 1) == 24 * 60


def test_recorded_responses_are_read_from_their_files_with_the_cells_of_each(other):
    qa, closed = of(model="recorded", experiment="qa"), of(model="recorded", experiment="closed")
    assert other.recorded.files(qa) == ["answers.jsonl"]
    assert other.recorded.cells(qa) == '[[[3,"gold_at_0"],[3,"gold_at_2"],[4,"gold_at_1"]]]'
    assert other.recorded.files(closed) == ["results/data/far.jsonl.gz"]
    assert other.recorded.fields(qa) == '{"id":"i","prompt":"p","response":"r"}'
    assert other.recorded.reasoning(qa) == "{}"
    with pytest.raises(UserError, match=r"models\.recorded\.responses: no responses to kv"):
        other.recorded.files(of(model="recorded", experiment="kv"))


# Tables, figures and the report


def test_the_default_config_has_these_tables(demo):
    assert sorted(demo.tables.files) == [
        f"results/tables/{name}"
        for name in (
            "accuracy.csv", "answer_checks.csv", "bias_by_size.csv", "candidates.csv", "claims.csv", "claims.md",
            "claims_summary.csv", "condition_differences.csv", "detectable_effects.csv", "effective_length.csv",
            "pbi.csv", "pbi.md", "position_bias.csv", "position_pairs.csv", "published_comparison.csv",
            "published_comparison.md", "reading_sensitivity.csv", "retrieval.csv", "token_counts.csv",
            "utilisation.csv", "wrong_answers.csv",
        )
    ]  # fmt: skip
    assert "results/tables/audit.csv" not in demo.tables.files and "audit" in demo.tables.names
    assert demo.paper.tables == []


def test_the_suite_has_no_tables_of_retrieval_and_nothing_without_documents_to_compare_with():
    suite = plan("suite")
    names = {Path(file).name for file in suite.tables.files}
    assert {"position_bias.csv", "pbi.md", "token_counts.csv"} <= names
    assert not {"candidates.csv", "retrieval.csv", "utilisation.csv", "model_differences.csv"} & names
    assert suite.fetch.files == [] and len(suite.fetch.sources) == 1


def test_the_paper_s_config_has_the_paper_s_tables(paper):
    assert "results/tables/model_differences.csv" in paper.tables.files
    assert len(paper.paper.tables) == 7 * 3
    assert paper.paper.measured(of(number="1")) == "results/tables/accuracy.csv"
    assert paper.paper.measured(of(number="4")) == "results/tables/token_counts.csv"
    assert paper.paper.published(of(number="4")) == "resources/published/token_counts.csv"
    assert paper.paper.published(of(number="5")) == "resources/published/accuracy.csv"
    options = shlex.split(paper.tables.options(of(table="published_comparison")))
    versions = json.loads(options[options.index("--settings") + 1])["data_versions"]
    assert versions["multi_document_qa"] == dict.fromkeys(["10", "20", "30"], "v1")


def test_there_is_no_table_of_positions_where_nothing_moves():
    closed_book = plan(experiments=["mini_encyclopedia_closed_book"])
    assert closed_book.tables.position_bias == [] and not closed_book.tables.has_positions
    assert not any("pbi" in file for file in [*closed_book.tables.files, *closed_book.figures.files])
    with pytest.raises(UserError, match="nothing to export"):
        closed_book.suite.exports(of())


def test_a_table_is_made_of_the_files_of_its_inputs_in_their_order(other):
    recall = of(table="retrieval")
    files = [f"results/recall/notes/{search}.csv" for search in ("near/far", "words/asked")]
    assert other.tables.inputs(recall) == {"recalls": files}
    assert other.tables.options(recall) == f"--input recalls {' '.join(files)}"
    assert other.tables.inputs(of(table="candidates")) == {
        "candidates": [f"results/candidates/{name}.csv" for name in ("by_near", "drawn", "by_words")]
    }
    examples = other.tables.inputs(of(table="answer_checks"))["examples"]
    assert examples[:3] == [
        "results/examples/kv/4/gold_at_0.jsonl.gz",
        "results/examples/kv/6/gold_at_0.jsonl.gz",
        "results/examples/kv_in_tokens/500/gold_at_depth_0.jsonl.gz",
    ]
    counts = other.tables.inputs(of(table="token_counts"))["token_counts"]
    assert list(dict.fromkeys(Path(file).parent.name for file in counts)) == ["here", "completions", "keyless", "parts"]
    audits = other.tables.inputs(of(table="audit"))["audits"]
    assert "results/audits/parts/kv.csv" in audits and "results/audits/recorded/qa.csv" not in audits


def test_tokens_of_a_model_with_recorded_responses_are_counted_by_the_tokenizer_that_its_entry_names(other):
    assert "recorded" not in other.models.counted
    entry = {"tokenizer": "resources/reference_model", "prompt_template": "mpt_instruct"}
    with_tokenizer = deepcopy(OTHER)
    with_tokenizer["define"]["models"]["recorded"] |= entry
    counted = plan(**with_tokenizer)
    recorded = of(model="recorded", experiment="qa")
    assert "recorded" in counted.models.counted and "recorded" not in counted.models.asked
    assert counted.models.prompt_template(recorded) == "mpt_instruct"
    assert "results/token_counts/recorded/qa.csv" in counted.tables.inputs(of(table="token_counts"))["token_counts"]


def test_each_experiment_with_positions_has_a_figure_of_its_wrong_answers_unless_figures_are_named(demo, other):
    names = list(demo.study.more_figures)
    assert names == [f"{name}_wrong_answers" for name, one in demo.study.experiments.items() if one.has_positions]
    assert names and set(names) <= {Path(file).stem for file in demo.figures.files}
    figure = of(figure=names[0])
    assert demo.figures.wrong_answers(figure) == ["results/tables/wrong_answers.csv"]
    assert demo.figures.accuracy(figure) == demo.figures.scores(figure) == demo.figures.differences(figure) == []
    named = {"mini": {"experiments": ["mini_encyclopedia_qa"]}}
    assert not plan(figures=["mini"], define={"figures": named}).study.more_figures


def test_a_table_is_made_by_its_module(demo):
    code = demo.tables.code(of(table="pbi"))
    assert code[0] == "scripts/analysis/make_table.py" and "scripts/litm/analysis/tables/pbi.py" in code
    assert "scripts/litm/analysis/tables/accuracy.py" not in code


def test_sweeps_are_the_pairs_that_have_responses(other):
    assert other.sweeps.models_of("qa") == ["here", "chat", "completions", "keyless", "recorded", "parts"]
    assert other.sweeps.models_of("kv") == ["here", "chat", "completions", "keyless", "parts"]
    assert other.sweeps.files("{model}/{experiment}", ["recorded"]) == ["recorded/qa", "recorded/closed"]
    assert other.sweeps.order == (
        "here chat completions keyless recorded parts / kv kv_in_tokens qa open oracle closed"
    )


def test_claims_have_the_recall_of_open_domain_experiments(paper, demo):
    assert paper.claims.recall_of == ["open_domain_qa"]
    assert paper.claims.recall == ["results/recall/wikipedia_2018/contriever/nq_open_oracle.csv"]
    assert demo.claims.recall == []
    assert list(json.loads(demo.claims.relations)["experiments"]) == sorted(demo.study.experiments)
    assert "kv_retrieval" in json.loads(demo.claims.published_relations)["experiments"]
    assert {"gpt-3.5-turbo-0613", "claude-1.3"} <= set(json.loads(paper.claims.relations)["recorded"])


def test_a_figure_is_drawn_of_its_selected_models_and_reference_lines(paper):
    figure = of(figure="figure5")
    assert paper.figures.accuracy(figure) == [
        f"results/accuracy/{model}/{experiment}.csv"
        for model in ("mpt-30b-instruct", "longchat-13b-16k")
        for experiment in ("multi_document_qa", "closed_book_qa")
    ]
    assert paper.figures.scores(figure) == []
    assert paper.figures.published(figure) == ["resources/published/accuracy.csv"]
    assert paper.figures.recall(figure) == []
    assert paper.figures.code(figure)[0] == "scripts/figures/plot_figure.py"
    assert "scripts/litm/figures/accuracy_by_position.py" in paper.figures.code(figure)
    assert "scripts/litm/figures/accuracy_by_size.py" not in paper.figures.code(figure)
    assert json.loads(paper.figures.settings(figure))["panel_title"] == "{size} documents"


def test_a_figure_of_means_over_positions_is_drawn_of_the_single_answers_too(paper):
    figure = of(figure="figure6")
    pairs = [Path(path).with_suffix("").parts[2:] for path in paper.figures.accuracy(figure)]
    assert pairs and [Path(path).with_suffix("").parts[2:] for path in paper.figures.scores(figure)] == pairs


def test_a_figure_by_size_shows_the_recall_of_the_retriever(paper):
    figure = of(figure="open_domain_qa")
    assert paper.figures.recall(figure) == ["results/recall/wikipedia_2018/contriever/nq_open_oracle.csv"]
    assert paper.figures.published(figure) == []


def test_figures_come_in_two_formats_with_the_one_of_all_curves_first(demo):
    curves = ("kv_retrieval_small", "needle_in_haystack_small", "mini_encyclopedia_qa")
    by_size = (f"{name}_{end}" for name in curves for end in ("heatmap", "by_size"))
    names = ("pbi_forest", *curves, *by_size, *(f"{name}_wrong_answers" for name in curves))
    assert demo.figures.files == [f"results/figures/{name}.{format}" for name in names for format in ("png", "pdf")]
    assert demo.figures.shown == [f"results/figures/{name}.png" for name in names[1:]]


def test_a_figure_has_the_lengths_of_the_prompts_that_can_be_counted(paper, demo):
    names = ("multi_document_qa", "closed_book_qa")
    counted = [Path(path).parts[2:] for path in paper.figures.token_counts(of(figure="figure5"))]
    assert counted == [(model, f"{name}.csv") for model in ("mpt-30b-instruct", "longchat-13b-16k") for name in names]
    assert demo.figures.token_counts(of(figure="kv_retrieval_small")) == [
        "results/token_counts/reference/kv_retrieval_small.csv"
    ]


def test_the_legend_says_what_models_are_where_they_differ_in_it(paper):
    settings = json.loads(paper.figures.settings(of(figure="figure11")))
    assert settings["facts"] == {
        "flan-t5-xxl": "encoder-decoder, trained on 512 tokens",
        "flan-ul2": "encoder-decoder, trained on 2,048 tokens",
    }
    assert settings["training_lengths"] == {"flan-t5-xxl": 512, "flan-ul2": 2048}
    assert json.loads(paper.figures.settings(of(figure="figure13")))["facts"] == {
        "mpt-30b-instruct": "tuned from mpt-30b"
    }
    assert "facts" not in json.loads(paper.figures.settings(of(figure="figure10")))


def test_published_values_alone_make_seven_figures_seven_tables_and_the_claims(demo):
    names = [Path(file).name for file in demo.paper.published_files]
    assert len(names) == 7 * 2 + 2 + 7 * 3
    assert {"figure5.png", "claims.md", "table7.tex"} <= set(names)
    assert json.loads(demo.figures.published_settings(of(figure="figure5")))["name"] == "figure5"


def test_the_report_says_where_its_data_are_from_and_what_servers_cost(other):
    settings = json.loads(other.report.settings(of()))
    assert settings["prices"] == {"chat": {"input": 1, "output": 2}, "completions": None, "keyless": None}
    assert settings["datasets"] == [
        {"name": "by_near", "source": "made by this workflow", "version": None},
        {"name": "drawn", "source": "made by this workflow", "version": None},
        {"name": "kept", "source": "a file of the user's own", "version": None},
        {"name": "by_words", "source": "made by this workflow", "version": None},
        {"name": "asked", "source": "a file of the user's own", "version": None},
    ]
    assert other.report.datasets == [
        "results/candidates/by_near.jsonl.gz", "results/candidates/drawn.jsonl.gz", "kept.txt",
        "results/candidates/by_words.jsonl.gz", "asked.jsonl",
    ]  # fmt: skip


def test_the_report_has_a_sample_of_each_experiment_unless_it_wants_none(demo):
    experiment = of(experiment="mini_encyclopedia_qa")
    assert len(demo.report.samples) == 5
    assert demo.report.models(experiment) == ["reference"]
    assert demo.report.responses(experiment) == ["results/responses/reference/mini_encyclopedia_qa.jsonl.gz"]
    assert plan(report={"questions_per_size": 0}).report.samples == []


def test_the_suite_exports_the_curves_of_models_that_have_any(demo, other):
    assert demo.suite.summaries == ["results/summaries/reference"]
    assert demo.suite.exports(of()) == ["results/suite_export/reference"]
    curve = next(curve for curve in json.loads(demo.suite.curve_files(of(model="reference"))))
    assert (curve["name"], curve["size"], curve["panel_title"]) == ("kv_retrieval_small_10", 10, "{size} items")
    assert len(curve["examples"]) == 5
    in_tokens = [one for one in json.loads(other.suite.curve_files(of(model="here"))) if "tokens" in one["name"]]
    assert {one["panel_title"] for one in in_tokens} == {"{size} tokens"}
    assert other.suite.files(of(model="recorded")) == [
        "results/examples/qa/3/gold_at_0.jsonl.gz", "results/examples/qa/3/gold_at_2.jsonl.gz",
        "results/examples/qa/4/gold_at_1.jsonl.gz", "results/responses/recorded/qa.jsonl.gz",
        "results/scores/recorded/qa.parquet",
    ]  # fmt: skip


# Checks and downloads


def test_an_estimate_asks_no_hub_where_the_config_says_all_and_nothing_was_asked(other):
    assert other.estimate.source(of(model="completions", experiment="kv")) == []
    assert other.estimate.source(of(model="parts", experiment="kv")) == []
    assert other.estimate.source(of(model="here", experiment="kv")) == ["results/models/here.json"]
    assert other.estimate.source(of(model="chat", experiment="kv")) == ["results/models/chat.json"]


def test_an_estimate_grows_with_the_journals_of_all_sweeps(other):
    def estimate() -> EstimatePlan:
        """As of another start: what there is of journals is looked up once."""
        return EstimatePlan(other.study, other.models, other.sweeps)

    sweep = of(model="parts", experiment="kv")
    assert estimate().answered(sweep) == 0
    journal = Path(other.estimate.journal(sweep))
    assert journal == Path("results/journal/parts/kv.jsonl")
    journal.with_suffix("").mkdir(parents=True)
    journal.write_text("12345")
    (journal.with_suffix("") / "1_of_3.jsonl").write_text("678")
    assert estimate().answered(sweep) == 8
    assert estimate().source(sweep) == ["results/models/parts.json"]
    # Which of them have answers to its prompts is not known before they are read.
    assert estimate().answered(of(model="completions", experiment="kv")) == 8
    assert estimate().source(of(model="completions", experiment="kv")) == []
    shutil.rmtree("results")


def test_an_estimate_knows_rates_and_prices_of_the_models_that_are_asked(other):
    rates = dict.fromkeys(["here", "chat", "completions", "keyless"]) | {"parts": 10}
    assert json.loads(other.estimate.rates) == rates
    assert json.loads(other.estimate.prices)["chat"] == {"input": 1, "output": 2}
    assert "recorded" not in {Path(file).parent.name for file in other.estimate.sweeps}


def test_an_audit_asks_with_the_plain_engine_and_all_gpus_of_the_model(other):
    parts, chat = of(model="parts", experiment="kv"), of(model="chat", experiment="kv")
    assert "transformers.py" in {Path(file).name for file in other.audit.code(parts)}
    assert "openai.py" in {Path(file).name for file in other.audit.code(chat)}
    assert (other.audit.gpus(parts), other.audit.gpu_model(parts)) == (2, "a100")


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

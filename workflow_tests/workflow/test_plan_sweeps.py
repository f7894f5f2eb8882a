"""The plan of models, sweeps, estimates and audits: inputs, params and resources of their jobs."""

import json
import shutil
from pathlib import Path

import pytest
from conftest import ROOT
from gguf_files import write_gguf
from plans import TOKENIZER, of

from litm.base.messages import UserError
from litm.workflow.plan import load_plan
from litm.workflow.sweep_inputs import EstimatePlan

pytestmark = pytest.mark.usefixtures("in_the_project")


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


def test_a_model_of_the_hub_is_identified_by_its_commit_and_a_separate_tokenizer_by_its_file(paper):
    longchat, mpt = of(model="longchat-13b-16k"), of(model="mpt-30b-instruct")
    assert paper.models.folder(longchat) == paper.models.tokenizer_files(longchat) == []
    assert paper.models.tokenizer_source(longchat) == ["results/models/longchat-13b-16k.json"]
    file = "results/data/gpt-neox-20b.tokenizer.json"
    assert paper.models.tokenizer_files(mpt) == paper.models.identified_tokenizer(mpt) == [file]
    assert paper.models.own_tokenizer(mpt) == paper.models.tokenizer(mpt) == file
    assert paper.models.tokenizer_source(mpt) == []
    assert paper.models.template(mpt) == ["resources/prompt_templates/mpt_instruct.txt"]
    assert (paper.models.context_window(mpt), paper.models.context_window(longchat)) == (16484, 16384)


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


def test_the_tokenizer_of_a_servers_model_counts_tokens_and_is_not_part_of_its_identity(other):
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


def test_sweeps_are_the_pairs_that_have_responses(other):
    assert other.sweeps.models_of("qa") == ["here", "chat", "completions", "keyless", "recorded", "parts"]
    assert other.sweeps.models_of("kv") == ["here", "chat", "completions", "keyless", "parts"]
    assert other.sweeps.files("{model}/{experiment}", ["recorded"]) == ["recorded/qa", "recorded/closed"]
    assert other.sweeps.order == (
        "here chat completions keyless recorded parts / kv kv_in_tokens qa open oracle closed"
    )


# Checks and downloads


def test_an_estimate_needs_no_hub_if_the_config_is_complete_and_no_answer_exists(other):
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

"""Ask a model the prompts of a sweep that its journal has no answer to, and write the responses to all of them."""

import argparse

from litm.cli import json_object, note, run
from litm.engines import FIRST_LINE, NO_QUANTIZATION, EngineSettings, load_engine
from litm.identity import sweep_identity
from litm.identity_changes import reason_in_words
from litm.journal import Journal, digest
from litm.prompt_format import load_tokenizer, opens_reasoning, read_prompt_template
from litm.reasoning import Reasoning, generation_settings, with_answer
from litm.records import read_json, read_jsonl, write_json, write_jsonl
from litm.sweep import (
    COUNT,
    FAIL,
    LEAVE_OUT,
    STOP,
    Fit,
    ask_missing,
    check_answered,
    manifest,
    sweep_prompts,
    sweep_responses,
)


def main() -> None:
    args = parse_args()
    source = read_json(args.source)
    template = read_prompt_template(args.template) if args.template else None
    reasoning = Reasoning.of(args.settings)
    asked_with = generation_settings(args.settings, stops_early=args.decoding["stop"] == FIRST_LINE)
    identity = sweep_identity(source["identity"], asked_with, template, args.decoding)
    settings = EngineSettings(
        location=source["location"],
        revision=source["revision"],
        dtype=args.settings["dtype"],
        quantization=args.settings.get("quantization", NO_QUANTIZATION),
        attention=args.settings["attention"],
        tokenizer=args.tokenizer,
        prompt_template=args.settings["prompt_template"],
        template=template,
        max_new_tokens=args.decoding["max_new_tokens"],
        stop=args.decoding["stop"],
        device=args.device,
        batch_tokens=args.batch_tokens,
        reasoning=reasoning,
    )
    fit = Fit(
        context_window=args.context_window or source["context_window"],
        max_new_tokens=args.decoding["max_new_tokens"] + reasoning.tokens,
        on_overflow=args.on_overflow,
        is_shared="answer_window" not in source,
        answer_window=source.get("answer_window"),
    )
    examples = (example for path in args.examples for _, example in read_jsonl(path))
    prompts = sweep_prompts(examples, digest(identity), settings.prompt_template)
    sweep = {
        "model": args.model,
        "experiment": args.experiment,
        "identity": digest(identity),
        "identity_fields": identity,
        "context_window": fit.context_window,
    }
    with Journal(args.journal) as journal:
        outcome = ask_missing(
            prompts,
            journal,
            identity,
            fit,
            make_engine=lambda: load_engine(args.settings["engine"], settings),
            what=f"{args.model}/{args.experiment}",
        )
        if args.on_failure == STOP:
            check_answered(outcome)
        summary = manifest(sweep, prompts, journal, outcome)
        responses = sweep_responses(prompts, journal, outcome)
        if reasoning.is_separate:
            opened = prompts_open_reasoning(settings)
            responses = (with_answer(record, reasoning.tags, opened) for record in responses)
        write_jsonl(args.responses, responses)
    write_json(args.manifest, summary)
    note(
        f"{args.model}/{args.experiment}: {summary['asked']} prompts asked, {summary['reused']} reused, "
        f"{summary['overflow']} do not fit the model's context"
    )
    if outcome.asked_because:
        note(f"{args.model}/{args.experiment}: asked because {reason_in_words(outcome.asked_because)}")
    if outcome.failed:
        note(
            f"{args.model}/{args.experiment}: {len(outcome.failed)} of those asked got no answer and are counted as "
            "failed; run with `--forcerun generate` to ask them again"
        )


def prompts_open_reasoning(settings: EngineSettings) -> bool:
    """Whether the prompts end with the tag that opens the reasoning, so that no response has it."""
    tokenizer = load_tokenizer(settings.tokenizer or settings.location, settings.revision)
    return opens_reasoning(tokenizer, settings.prompt_template, settings.template, settings.reasoning.tags[0])


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="the model's name")
    parser.add_argument("--experiment", required=True, help="the experiment's name")
    parser.add_argument("--source", required=True, help="what identify_model.py wrote")
    parser.add_argument("--settings", required=True, type=json_object, help="JSON: settings that change an answer")
    parser.add_argument("--decoding", required=True, type=json_object, help="JSON with max_new_tokens and stop")
    parser.add_argument("--context-window", type=int, default=0, help="in tokens; 0 is the model's own")
    parser.add_argument("--tokenizer", nargs="?", help="a tokenizer file that is not the model's own")
    parser.add_argument("--template", nargs="?", help="the file of a named prompt template")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--batch-tokens", type=int, required=True, help="tokens in a batch, padding included")
    parser.add_argument(
        "--on-failure",
        choices=[STOP, COUNT],
        default=STOP,
        help="what to do if prompts get no answer: stop, or count them",
    )
    parser.add_argument(
        "--on-overflow",
        choices=[LEAVE_OUT, FAIL],
        default=LEAVE_OUT,
        help="what to do if prompts do not fit the context: leave their questions out and count them, or stop",
    )
    parser.add_argument("--examples", required=True, nargs="+")
    parser.add_argument("--journal", required=True, help="every response ever got; read, and appended to")
    parser.add_argument("--responses", required=True, help="output: one line a prompt")
    parser.add_argument("--manifest", required=True, help="output: what these are responses of, and counts")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)

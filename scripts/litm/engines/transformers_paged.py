"""Hugging Face transformers with paged attention: many prompts in flight, their common beginnings computed once."""

from collections.abc import Iterator, Mapping, Sequence

import torch
from transformers import PreTrainedModel

from litm.cli import note
from litm.devices import choose_device, device_name
from litm.engines import Prepared, token_ids
from litm.engines import transformers as plain
from litm.engines.transformers import end_token_ids, greedy_decoding, is_out_of_memory, out_of_memory
from litm.errors import UserError
from litm.journal import Response
from litm.model_loading import load_model
from litm.paged_steps import PagedSteps, Said
from litm.prefix_tree import reading_plan
from litm.reasoning_end import Ending, cut_response, has_ended, response_ending

#: Tokens of a page, the unit that is shared.
PAGE_TOKENS = 32


class Engine(plain.Engine):
    """A causal language model, run by the continuous batching of transformers."""

    def generate(self, prompts: Sequence[Prepared]) -> Iterator[list[tuple[int, Response]]]:
        """Answer all prompts, those with a common beginning together; yields the answers of each step.

        `batch_tokens` are the tokens of prompts and answers in flight. They are halved if memory runs out, and what was
        in flight is asked again. Raises `UserError` for a model that is not for this engine, or a prompt that does not
        fit the memory.
        """
        if not prompts:
            return
        device = choose_device(self.settings.device)
        model = self._load(device)
        made_with = f"{self._software()}, {device_name(device)}"
        end_tokens = end_token_ids(model, self.tokenizer)
        ending = response_ending(self.settings, self.tokenizer, self.config)
        prompt_ids = token_ids(prompts)
        for batch in self._answer(model, prompt_ids, end_tokens, ending):
            answers = [cut_response(said.ids, end_tokens, ending, prompt_ids[said.index]) for said in batch]
            texts = self.tokenizer.batch_decode(
                [ids for ids, _ in answers], skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
            yield [
                (said.index, Response(text, finish_reason, len(prompt_ids[said.index]), len(ids), made_with))
                for said, text, (ids, finish_reason) in zip(batch, texts, answers, strict=True)
            ]

    def _load(self, device: torch.device) -> PreTrainedModel:
        if self.config.is_encoder_decoder:
            raise UserError(f"{self.config.model_type} is an encoder-decoder: set the model's 'engine' to transformers")
        model = load_model(self.settings, self.config, device)
        if not model.is_backend_compatible():
            raise UserError(
                f"{type(model).__name__} computes attention in a way of its own, which has no pages: set the model's "
                "'engine' to transformers"
            )
        return model

    def _answer(
        self,
        model: PreTrainedModel,
        prompts: Sequence[Sequence[int]],
        end_tokens: list[int],
        ending: Ending,
    ) -> Iterator[list[Said]]:
        """What ended in each step; begins again with half of the room where memory runs out."""
        new_tokens = self.settings.max_new_tokens
        decoding = greedy_decoding(new_tokens, end_tokens, self._pad_token(end_tokens), None)
        left, budget = dict(enumerate(prompts)), self.settings.batch_tokens
        while left:
            longest = max(map(len, left.values()))
            room = max(budget, longest + new_tokens)
            try:
                steps = PagedSteps(model, decoding, room, PAGE_TOKENS, self._count)
                for batch in in_flight(steps, left.copy(), room, PAGE_TOKENS, new_tokens, ending):
                    for said in batch:
                        del left[said.index]
                    yield batch
            except (RuntimeError, MemoryError) as error:
                if not isinstance(error, MemoryError) and not is_out_of_memory(error):
                    raise
                if room == longest + new_tokens:
                    raise UserError(out_of_memory(model.device, longest)) from error
                budget = room // 2
                note(f"out of memory on {model.device} with {room} tokens in flight: on with {budget} batch_tokens")
                # The next ones must find the memory of these.
                del steps
            torch.cuda.empty_cache()

    def _count(self, tokens: int) -> None:
        self.computed_tokens += tokens


def in_flight(
    steps: PagedSteps,
    prompts: Mapping[int, Sequence[int]],
    room: int,
    page: int,
    new_tokens: int,
    ending: Ending,
) -> Iterator[list[Said]]:
    """What ended in each step, until all prompts have: as many at a time as have `room` with an answer of full length.

    A prompt is asked when the one before it on its path in the tree has been read, and then next: its pages may soon be
    forgotten.
    """
    names = list(prompts)
    plan = reading_plan(list(prompts.values()), page)
    waiting = [names[place] for place in reversed(plan.first if steps.shares else plan.order)]
    followers = {
        names[leader]: [names[place] for place in reversed(places)]
        for leader, places in (plan.followers.items() if steps.shares else ())
    }
    asked: dict[int, int] = {}
    while waiting or asked:
        while waiting and sum(asked.values()) + len(prompts[waiting[-1]]) + new_tokens <= room:
            index = waiting.pop()
            asked[index] = len(prompts[index]) + new_tokens
            steps.add(index, prompts[index])
        said = steps.take()
        for one in said:
            waiting += followers.pop(one.index, [])
        ended = [one for one in said if one.ended or has_ended(one.ids, ending, prompts[one.index])]
        for one in ended:
            del asked[one.index]
            if not one.ended:
                steps.cancel(one.index)
        if ended:
            yield ended

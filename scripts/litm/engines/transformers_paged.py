"""Hugging Face transformers with paged attention: many prompts in flight, their common beginnings computed once."""

from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush

import torch
from transformers import GenerationConfig, PreTrainedModel

from litm.cli import note
from litm.devices import choose_device, device_name
from litm.engines import Prepared, token_ids
from litm.engines import transformers as plain
from litm.engines.transformers import end_token_ids, greedy_decoding, is_out_of_memory, out_of_memory
from litm.errors import UserError
from litm.journal import Response
from litm.model_loading import load_model
from litm.paged_steps import PagedSteps, Said
from litm.prefix_tree import ReadingPlan, reading_plan
from litm.reasoning import BUDGET
from litm.reasoning_end import Ending, cut_response, has_ended, response_ending

#: Tokens of a page, the unit that is shared.
PAGE_TOKENS = 32
#: What to do where a model is not for this engine.
REMEDY = "set the model's 'engine' to transformers"


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
            raise UserError(f"{self.config.model_type} is an encoder-decoder: {REMEDY}")
        if self.settings.reasoning.policy == BUDGET:
            raise UserError(f"paged attention cannot close a model's reasoning for it: {REMEDY}")
        if self.settings.gpus > 1:
            raise UserError(f"paged attention needs the model on one GPU: {REMEDY}, or 'gpus' to 1")
        model = load_model(self.settings, self.config, device)
        if not model.is_backend_compatible():
            raise UserError(f"{type(model).__name__} computes attention in a way of its own, without pages: {REMEDY}")
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
                for batch in self._in_flight(model, decoding, left.copy(), room, ending):
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
            # Only here, since the error holds the tensors of the failed step.
            torch.cuda.empty_cache()

    def _in_flight(
        self,
        model: PreTrainedModel,
        decoding: GenerationConfig,
        prompts: Mapping[int, Sequence[int]],
        room: int,
        ending: Ending,
    ) -> Iterator[list[Said]]:
        """What ended in each step, until all prompts have; as many at a time as have `room` with an answer of full
        length.

        A prompt is asked when the one that it shares its pages with has been read; of those, the first in the order of
        the tree: what is read is forgotten some day.
        """
        steps = PagedSteps(model, decoding, room, PAGE_TOKENS, self.settings.share_prefixes)
        plan = reading_plan(prompts, PAGE_TOKENS) if steps.shares else ReadingPlan(list(prompts), {})
        place = {index: place for place, index in enumerate(plan.order)}
        waiting = [place[index] for index in plan.first]
        followers, asked = dict(plan.followers), dict[int, int]()
        while waiting or asked:
            while waiting:
                index = plan.order[waiting[0]]
                size = len(prompts[index]) + self.settings.max_new_tokens
                if sum(asked.values()) + size > room:
                    break
                heappop(waiting)
                asked[index] = size
                steps.add(index, prompts[index])
            step = steps.take()
            self.computed_tokens += step.prompt_tokens
            ended = []
            for said in step.said:
                # It has been read, or it would have said nothing.
                for index in followers.pop(said.index, ()):
                    heappush(waiting, place[index])
                over = has_ended(said.ids, ending, prompts[said.index])
                if over and not said.ended:
                    steps.cancel(said.index)
                if over or said.ended:
                    del asked[said.index]
                    ended.append(said)
            if ended:
                yield ended

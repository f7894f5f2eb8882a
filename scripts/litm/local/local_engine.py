"""What engines share that run a model in this process."""

from collections.abc import Iterable, Sequence

from litm.base.messages import UserError, note
from litm.engines.interface import FIRST_LINE, Prepared, prepared
from litm.engines.local_models import LoadedSettings
from litm.engines.stopping import Ending
from litm.models.configuration import load_config
from litm.models.locations import check_safe_weights
from litm.prompting.prompt_format import model_tokenizer
from litm.prompting.reasoning import BUDGET
from litm.records.examples import Content
from litm.records.responses import Response


class LocalEngine:
    """Reads a model's configuration and tokenizer, and turns its token ids into responses.

    computed_tokens: prompt tokens computed so far; is_loading: whether the weights are still to be loaded. Set by
    `loaded`: ends, all ids that end an answer; ending: the other rules; made_with: see `Response`.
    """

    def __init__(self, settings: LoadedSettings) -> None:
        self.settings = settings
        location, revision, own_code = settings.location, settings.revision, settings.keys.trust_remote_code
        if own_code:
            note(f"{location}: trust_remote_code is true: code that comes with the model runs")
        self.config = load_config(location, revision, settings.keys.config, own_code)
        check_safe_weights(location, revision)
        self.tokenizer = model_tokenizer(
            settings.tokenizer or location, revision, settings.prompt_template, settings.reasoning, own_code
        )
        self.computed_tokens = 0
        self.is_loading = True
        self.ends: list[int] = []
        self.ending = Ending()
        self.made_with = ""

    def prepare(self, contents: Sequence[Content], answers: Sequence[Sequence[str]] | None = None) -> list[Prepared]:
        """Each prompt in the model's template, with its token ids."""
        return prepared(self.settings.form(self.tokenizer), contents, answers, self.config.is_encoder_decoder)

    def loaded(self, own_ends: int | Sequence[int] | None, made_with: str) -> None:
        """The model is loaded: an answer ends with one of `own_ends` or the tokenizer's end of text, or by the rules.

        Raises `UserError` if the tokens for reasoning leave no room for the closing tag.
        """
        ids = {
            *([own_ends] if own_ends is None or isinstance(own_ends, int) else own_ends),
            self.tokenizer.eos_token_id,
        }
        self.ends = sorted(id for id in ids if id is not None)
        self.ending, self.made_with, self.is_loading = self._ending(), made_with, False

    def _ending(self) -> Ending:
        settings, reasoning = self.settings, self.settings.reasoning
        first_line = settings.stop == FIRST_LINE
        if not first_line and reasoning.policy != BUDGET:
            return Ending()
        vocabulary = max(len(self.tokenizer), self.config.get_text_config().vocab_size)
        pieces = self.tokenizer.batch_decode([[id] for id in range(vocabulary)], skip_special_tokens=True)
        if reasoning.policy != BUDGET:
            return Ending(pieces, first_line, reasoning.tags if reasoning.is_separate else None)
        closing = reasoning.tags[1]
        closing_ids = self.tokenizer(closing, add_special_tokens=False)["input_ids"]
        if len(closing_ids) >= reasoning.tokens:
            raise UserError(f"reasoning_tokens: {reasoning.tokens} is too few, {closing} alone has {len(closing_ids)}")
        return Ending(pieces, first_line, reasoning.tags, settings.max_new_tokens, reasoning.tokens, closing_ids)

    def responses(
        self, prompts: Sequence[Sequence[int]], batch: Iterable[int], outputs: Iterable[Sequence[int]]
    ) -> list[tuple[int, Response]]:
        """The responses of a batch as (index of the prompt, response): its outputs, cut at their ends, as texts.

        prompts: token ids of all prompts; batch: indices of those that were answered; outputs: new token ids of each,
        possibly with further tokens after the end.
        """
        answers = [
            (index, *self.ending.cut(output, self.ends, prompts[index]))
            for index, output in zip(batch, outputs, strict=True)
        ]
        texts = self.tokenizer.batch_decode(
            [ids for _, ids, _ in answers], skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return [
            (index, Response(text, finish_reason, len(prompts[index]), len(ids), self.made_with))
            for (index, ids, finish_reason), text in zip(answers, texts, strict=True)
        ]

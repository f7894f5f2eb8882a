"""Batches of prompts and passages within a budget of tokens."""

from collections.abc import Iterator, Sequence


def longest_first(lengths: Sequence[int]) -> list[int]:
    """Indices by falling length: little padding, and a lack of memory shows at once; ties keep their order."""
    return sorted(range(len(lengths)), key=lambda index: -lengths[index])


def padded_size(longest: int, new_tokens: int, count: int) -> int:
    """Tokens of a batch of `count` prompts, including padding and answers."""
    return (longest + new_tokens) * count


def next_batch(
    order: Sequence[int], start: int, lengths: Sequence[int], new_tokens: int, token_budget: int
) -> Sequence[int]:
    """The batch that starts at `order[start]`: as many successive indices as fit `token_budget`.

    The size of a batch is its `padded_size`; a prompt longer than the budget is a batch of its own.
    """
    longest = lengths[order[start]]
    end = start + 1
    while end < len(order):
        longest = max(longest, lengths[order[end]])
        if padded_size(longest, new_tokens, end + 1 - start) > token_budget:
            break
        end += 1
    return order[start:end]


def halved_budget(batch: Sequence[int], lengths: Sequence[int], new_tokens: int) -> int:
    """The token budget for the first half of a batch of two or more prompts.

    Half of the batch's size, not of the old budget, which the last batch may be far below.
    """
    half = len(batch) // 2
    return padded_size(max(lengths[index] for index in batch[:half]), new_tokens, half)


def length_sorted_batches(lengths: Sequence[int], new_tokens: int, token_budget: int) -> Iterator[Sequence[int]]:
    """Batches of indices, `longest_first`, each as `next_batch` makes it."""
    order = longest_first(lengths)
    done = 0
    while done < len(order):
        batch = next_batch(order, done, lengths, new_tokens, token_budget)
        yield batch
        done += len(batch)

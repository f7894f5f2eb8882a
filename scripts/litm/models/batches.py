"""How prompts and passages are put into batches."""

from collections.abc import Iterator, Sequence


def longest_first(lengths: Sequence[int]) -> list[int]:
    """Indices in an order that pads little and shows a lack of memory at once; equal lengths keep theirs."""
    return sorted(range(len(lengths)), key=lambda index: -lengths[index])


def padded_size(longest: int, new_tokens: int, count: int) -> int:
    """Tokens in a batch of `count` prompts, the padding to the longest and the answers included."""
    return (longest + new_tokens) * count


def next_batch(
    order: Sequence[int], start: int, lengths: Sequence[int], new_tokens: int, token_budget: int
) -> Sequence[int]:
    """The batch that begins at `order[start]`: as many indices, in their order, as stay within `token_budget`.

    A batch's size in tokens is its `padded_size`; a prompt longer than the budget is a batch of its own.
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
    """The token budget that just allows the first half of a batch of two or more.

    Half of the size that the batch had, not of the budget it was allowed, which the last batch is far below.
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

"""Wording of generated texts: codes, names, and sentences from wordings with slots, without repetition.

Slots of a wording:
    {place}, {other}          two different made-up places
    {person}, {helper}        two different persons, by their trade: "the ferryman"
    {building}, {second}      two different buildings, without article
    {things}, {goods}         things in the plural, and a good that is not counted, both without article
    {season}, {hour}          when, in the year or in the day: "in early spring", "on most mornings"
A wording may begin with any slot: first letters are made capital where a sentence begins.
"""

import re
from collections.abc import Iterator, Sequence
from random import Random

from litm.corpora.made_up import coined_name, name_parts, stem
from litm.examples.task import FORM
from litm.records import OtherItem, Target

#: No vowels, so that no code is a word; no I, O, 0 and 1, so that none can be misread.
LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
DIGITS = "23456789"
_RANDOM = {"?": LETTERS, "#": DIGITS}


def random_codes(rng: Random, count: int, form: str = FORM) -> list[str]:
    """`count` distinct codes such as "TRK-5938", of the 32,768,000 of `FORM`."""
    codes: dict[str, None] = {}
    while len(codes) < count:
        codes["".join(rng.choices(_RANDOM[sign])[0] if sign in _RANDOM else sign for sign in form)] = None
    return list(codes)


#: Names that share all but their last two letters: Varnhold, Varnholt, Varnholm, ...
FAMILY = 5
_SEEDS = 2**32


def coined_names(rng: Random, count: int) -> list[str]:
    """`count` distinct names, such as "Melitor"."""
    seed = rng.randrange(_SEEDS)
    return [coined_name(seed, index) for index in range(count)]


def similar_names(rng: Random, count: int) -> list[str]:
    """`count` distinct names in random order, in families of `FAMILY` that differ only in the last two letters.

    No name contains another. The last family may be smaller.
    """
    seed = rng.randrange(_SEEDS)
    # Without endings that make a swear word of some stems.
    endings = tuple(coda for coda in name_parts("coda")[0] if coda not in ("ck", "nt"))
    families = range(-(-count // FAMILY))
    names = [stem(seed, family) + coda for family in families for coda in rng.sample(endings, FAMILY)][:count]
    return rng.sample(names, count)


PERSONS = (
    "the apothecary", "the baker", "the beekeeper", "the bell-ringer", "the blacksmith", "the bookbinder",
    "the carpenter", "the clockmaker", "the cooper", "the ferryman", "the forester", "the gardener",
    "the glazier", "the innkeeper", "the lamplighter", "the librarian", "the miller", "the organist",
    "the postman", "the potter", "the roofer", "the saddler", "the schoolmaster", "the shepherd",
    "the stationmaster", "the surveyor", "the tailor", "the weaver",
)  # fmt: skip
BUILDINGS = (
    "bakery", "bathhouse", "boathouse", "brewery", "chapel", "dairy", "fire station", "granary", "guildhall",
    "lighthouse", "market hall", "mill", "museum", "post office", "railway station", "ropewalk",
    "schoolhouse", "smithy", "tannery", "theatre", "toll house", "town hall", "warehouse", "water tower",
)  # fmt: skip
THINGS = (
    "barrels", "baskets", "benches", "brooms", "buckets", "candles", "clay jars", "copper kettles", "fishing nets",
    "garden tools", "hurdles", "ladders", "lanterns", "leather boots", "oars", "picture frames", "ropes",
    "seed trays", "sledges", "stools", "tablecloths", "wagon wheels", "wooden bowls", "woollen blankets",
)  # fmt: skip
GOODS = (
    "barley", "charcoal", "cider", "firewood", "flour", "hay", "honey", "leather", "linen", "malt",
    "paper", "peat", "rye", "salt", "straw", "tar", "timber", "tobacco", "wax", "wool",
)  # fmt: skip
SEASONS = (
    "in early spring", "in the last weeks of spring", "at the height of summer", "at the end of summer",
    "in the first days of autumn", "in late autumn", "in the middle of winter", "in dry years", "after the harvest",
    "in the rainy months", "after the first frost", "when the days grow short", "once the snow has melted",
)  # fmt: skip
HOURS = (
    "on most mornings", "around noon", "late in the afternoon", "toward evening", "on quiet afternoons",
    "on rainy days", "at the end of the week", "before the market opens", "after the last delivery",
    "early in the day", "on holidays", "when there is little to do",
)  # fmt: skip
#: Minimum number of places, and sentences per further place: longer texts mention more places.
_PLACES, _SENTENCES_A_PLACE = 24, 25
#: Successive draws without a new text, after which the wordings count as exhausted.
_MOST_DRAWS = 1000


def places_for(rng: Random, sentences: int) -> list[str]:
    """Made-up places for a text of `sentences` sentences."""
    return coined_names(rng, _PLACES + sentences // _SENTENCES_A_PLACE)


def distinct_texts(
    rng: Random, wordings: Sequence[tuple[str, ...]], places: Sequence[str], count: int
) -> list[tuple[str, ...]]:
    """`count` filled wordings, with all parts distinct.

    A wording has one or more parts whose slots are filled alike (a question and its answer). Wordings take turns, in a
    new random order in every round.
    """
    seen: set[str] = set()
    texts: list[tuple[str, ...]] = []
    turns = _turns(rng, wordings)
    while len(texts) < count:
        wording = next(turns)
        for _ in range(_MOST_DRAWS):
            parts = _fill(wording, rng, places)
            if seen.isdisjoint(parts):
                break
        else:
            raise AssertionError(f"the wording {wording!r} has nothing new left to say after {len(texts)} texts")
        seen.update(parts)
        texts.append(parts)
    return texts


def capitalised(text: str) -> str:
    """The text with a capital first letter and otherwise unchanged."""
    return text[:1].upper() + text[1:]


def _turns(rng: Random, wordings: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    while True:
        yield from rng.sample(wordings, len(wordings))


def _fill(wording: tuple[str, ...], rng: Random, places: Sequence[str]) -> tuple[str, ...]:
    place, other = rng.sample(places, 2)
    person, helper = rng.sample(PERSONS, 2)
    building, second = rng.sample(BUILDINGS, 2)
    slots = {
        "place": place,
        "other": other,
        "person": person,
        "helper": helper,
        "building": building,
        "second": second,
        "things": rng.choice(THINGS),
        "goods": rng.choice(GOODS),
        "season": rng.choice(SEASONS),
        "hour": rng.choice(HOURS),
    }
    return tuple(part.format_map(slots) for part in wording)


FILLERS = (
    "{hour}, {person} in {place} sweeps the steps of the {building}.",
    "the {building} in {place} has a low roof and a narrow door.",
    "the road from {place} to {other} passes an abandoned {building} and a row of poplars.",
    "{person} of {place} keeps {things} in a shed behind the {building}.",
    "visitors to {place} usually look at the {building} and then move on to {other}.",
    "nobody in {place} can say who built the {building}.",
    "the {building} in {place} is closed {season}, and {person} takes the key home.",
    "{person} and {helper} share a cart for carrying {goods} to {place}.",
    "a narrow canal runs behind the {building} in {place} and ends in a pond.",
    "people in {place} prefer to get their {things} from {other}.",
    "the path between {place} and {other} is hard to find {season}.",
    "the windows of the {building} in {place} face the river.",
    "{person} once repaired the clock of the {building} in {place} with parts from {other}.",
    "outside the {building} in {place} there is a bench where {person} rests {hour}.",
    "most of the {goods} in the stores of {place} is brought from {other}.",
    "{hour}, {person} of {place} writes a short letter to a cousin in {other}.",
    "the wind in {place} is mild {season}, and the flags hardly move.",
    "a grey cat sleeps among the {things} beside the {building} in {place}.",
    "in {place}, {things} are stacked along the wall of the {building}.",
    "{person} of {place} learned the trade in {other} and speaks of it often.",
    "{season}, the bells of {place} can be heard as far away as {other}.",
    "the {building} in {place} was painted again after the flood, but its door was left as it was.",
    "children in {place} play behind the {building} {hour}.",
    "{hour}, {person} reads the newspaper on the steps of the {building} in {place}.",
    "about half of the {things} in the {building} of {place} were made in {other}.",
    "the bridge at {place} is just wide enough for a cart loaded with {goods}.",
    "{season}, {person} stores {things} in the loft of the {building} in {place}.",
    "the inhabitants of {place} speak a little more slowly than those of {other}.",
    "{season}, a delivery of {goods} reaches {place} by way of {other}.",
    "{person} says that the {building} in {place} is colder than the one in {other}.",
    "the garden beside the {building} in {place} is full of beans and marigolds.",
    "no one has moved the {things} that {person} left in the {building} in {place}.",
    "{season}, the ferry to {place} carries little besides {goods}.",
    "the council of {place} discussed the roof of the {building} and came to no decision.",
    "{person} has a cousin in {place} who deals in {goods}.",
    "the floor of the {building} in {place} creaks {season}.",
    "{helper} lent {person} a lamp to search the attic of the {building} in {place}.",
    "between {place} and {other} there is nothing but pasture and a few stone walls.",
    "{season}, the {building} in {place} smells of {goods}.",
    "in {place}, {person} sorts the {things} by size and leaves the largest outside.",
    "travellers on the way to {place} often ask {person} about the weather.",
    "{hour}, {person} and {helper} play cards in the {building} in {place}.",
    "a sign at the {building} in {place} asks visitors to wipe their boots.",
    "the {building} in {place} stands on a slope, next to an empty stable.",
    "{hour}, {person} of {place} counts the {things} and is satisfied.",
    "dust from the road to {place} settles on the {things} outside the {building}.",
    "the school in {place} borrows {things} from the {building} {season}.",
    "fog from the valley often hides the {building} in {place} until noon.",
    "{person} prefers the quiet of {place} to the noise of {other}.",
    "the {building} in {place} is roofed with the same slate as the one in {other}.",
    "a load of {goods} was left at the {building} in {place} for {person}.",
    "{season}, starlings gather on the roof of the {building} in {place}.",
    "the well behind the {building} in {place} has never run dry.",
    "{person} tells the same story about {place} {hour}.",
    "the train to {place} waits at {other} until the mail has been loaded.",
    "an old walnut tree shades the {building} in {place}, where {person} works.",
    "the meadows below {place} are flooded {season}.",
    "the market in {place} begins late, because the {things} have to come from {other}.",
    "rain from the west usually reaches {place} a little later than {other}.",
    "the {building} in {place} shares a courtyard with the {second}.",
    "from the {building} in {place} it is a short walk to the {second}.",
    "{person} looks after the {building} in {place}, and {helper} after the {second}.",
    "there is talk in {place} of turning the {building} into a {second}.",
    "a hedge separates the {building} in {place} from a field of turnips.",
    "{hour}, the light falls through the windows of the {building} in {place} onto the {things}.",
    "{person} bought a few {things} in {place} and forgot them in the {building}.",
)


def filler_sentences(rng: Random, count: int) -> list[str]:
    """`count` distinct sentences of present-day dullness."""
    wordings = [(wording,) for wording in FILLERS]
    return [capitalised(text) for (text,) in distinct_texts(rng, wordings, places_for(rng, count), count)]


EVENTS = (
    "the {building} in {place} was rebuilt after a fire",
    "a new road was opened between {place} and {other}",
    "{person} of {place} was elected mayor of {other}",
    "the harvest around {place} failed and grain had to be brought from {other}",
    "a bridge of oak was built across the river at {place} to carry {goods}",
    "the {building} in {place} was sold to the town of {other}",
    "a guild for the makers of {things} was founded in {place}",
    "the river flooded the lower streets of {place} and the {building}",
    "the first fair for {goods} was held in the fields outside {place}",
    "the walls of {place} were extended as far as the {building}",
    "the council of {place} banned the sale of {goods} after dark",
    "merchants from {other} opened a {building} in {place}",
    "heavy snow closed the pass between {place} and {other}",
    "the bells of {place} were cast anew in {other}",
    "a school for the children of the makers of {things} was opened in {place}",
    "the {building} in {place} lost its roof in a storm",
    "{place} and {other} signed a treaty on grazing rights",
    "a shipment of {goods} from {other} was lost near {place}",
    "a well was dug beside the {building} in {place}",
    "the archive of {place} was moved to the {building}",
    "a comet was seen above the {building} in {place}",
    "the old mint of {place} was turned into a {building}",
    "the post road from {place} was paved as far as {other}",
    "a family from {other} bought the {building} in {place}",
    "farmers from {other} settled in the empty villages around {place}",
    "a fever spread from {other} to {place}",
    "the tax on {goods} was lifted in {place}",
    "a clock was installed in the {building} of {place}",
    "surveyors from {other} drew the first map of {place}",
    "the ferry between {place} and {other} sank with a load of {goods}",
    "the militia of {place} was disbanded after a dispute with {other}",
    "the people of {place} drained the marsh on the way to {other}",
    "{person} of {place} left a fortune in {goods} to the town",
    "masons from {other} added a tower to the {building} in {place}",
    "the students of {place} moved their library into the {building}",
    "a quarrel over {goods} divided {place} and {other}",
)


def event_clauses(rng: Random, places: Sequence[str], count: int) -> list[str]:
    """`count` distinct clauses in the past tense, such as "a fever spread from Oslen to Melitor"."""
    return [text for (text,) in distinct_texts(rng, [(wording,) for wording in EVENTS], places, count)]


EXCHANGES = (
    (
        "How do I get from {place} to {other}?",
        "Leave {place} by the {building} and keep to the left bank of the river until you reach {other}.",
    ),
    (
        "Is the {building} in {place} open {hour}?",
        "Yes, the {building} in {place} is also open {hour}.",
    ),
    (
        "Who looks after the {building} in {place}?",
        "That is {person}, who has looked after the {building} in {place} for many years.",
    ),
    (
        "Where can I find {things} in {place}?",
        "Try the small shop next to the {building} in {place}, which has {things} on display.",
    ),
    (
        "What is the weather like in {place} {season}?",
        "It is usually mild and a little windy in {place} {season}.",
    ),
    (
        "Can you suggest a walk near {place}?",
        "A quiet path leads from the {building} in {place} along the stream toward {other}.",
    ),
    (
        "Could you draft a note to {person} of {place} about the {things}?",
        "Here is a draft: the {things} have arrived and can be collected from the {building} in {place}.",
    ),
    (
        "How do people in {place} store {goods} {season}?",
        "In {place} they keep {goods} in a dry loft {season}.",
    ),
    (
        "I lost my umbrella at the {building} in {place}; what should I do?",
        "Ask {person}, who has a cupboard for lost things at the {building} in {place}.",
    ),
    (
        "Does the ferry to {place} run {season}?",
        "The ferry to {place} does run {season}, but it takes no carts.",
    ),
    (
        "Which is older in {place}, the {building} or the {second}?",
        "The {building} is older; the {second} was added to {place} later.",
    ),
    (
        "Should I spend the day in {place} or in {other}?",
        "I would choose {place} for its {building} and leave {other} for a longer journey.",
    ),
    (
        "What do people in {place} do {hour}?",
        "Many people in {place} sit outside the {building} {hour} and talk.",
    ),
    (
        "What would be a good present for {person} in {place}?",
        "A few {things} from {other} would suit {person} in {place}.",
    ),
    (
        "How are {things} made in {place}?",
        "In {place}, {things} are made by hand in a workshop behind the {building}.",
    ),
    (
        "Can I leave my {things} at the {building} in {place}?",
        "Yes, leave your {things} at the {building} in {place} and tell {person} when you will be back.",
    ),
    (
        "Is {place} larger than {other}?",
        "There are fewer streets in {place} than in {other}, but the market of {place} is larger.",
    ),
    (
        "Why is the {building} in {place} closed {season}?",
        "Every year {person} repairs the roof of the {building} in {place} {season}.",
    ),
    (
        "What grows in the fields around {place}?",
        "Around {place} there is mostly barley, while the farms near {other} keep sheep.",
    ),
    (
        "How long does it take from {place} to {other}?",
        "With a light cart it takes most of a day to get from {place} to {other}.",
    ),
    (
        "Could you recommend an inn in {place}?",
        "The inn beside the {building} in {place} is simple but clean.",
    ),
    (
        "Whom should I ask about {goods} in {place}?",
        "Ask {person} in {place}, who has traded in {goods} all along.",
    ),
    (
        "What can I see from the hill above {place}?",
        "On a clear day you can see the {building} of {place} and, behind the woods, the first houses of {other}.",
    ),
    (
        "How does {person} in {place} clean {things}?",
        "In {place} {person} uses warm water and a soft brush, and lets the {things} dry in the shade.",
    ),
    (
        "Please tell me something about the {building} in {place}.",
        "Built of stone from {other}, the {building} in {place} was first meant to be a {second}.",
    ),
)


def exchanges(rng: Random, count: int) -> list[tuple[str, str]]:
    """`count` pairs of a user's message and the assistant's reply, all distinct."""
    texts = distinct_texts(rng, EXCHANGES, places_for(rng, count), count)
    return [(capitalised(user), capitalised(assistant)) for user, assistant in texts]


#: What is asked about a subject.
REQUESTS = (
    "I have a question about the {subject}.",
    "Can somebody have a look at the {subject}?",
    "I would like to complain about the {subject}.",
    "Please tell me more about the {subject}.",
    "Something is wrong with the {subject}.",
    "When will there be news of the {subject}?",
)


def subjects(rng: Random, count: int) -> list[str]:
    """`count` distinct subjects, such as "ladders in the market hall"; at most `MOST`."""
    return [f"{things} in the {building}" for things, building in rng.sample(_SUBJECTS, count)]


_SUBJECTS = [(things, building) for things in THINGS for building in BUILDINGS]
#: Subjects in all.
MOST = len(_SUBJECTS)
#: A document's first line, as `multi_document_qa.format_items` writes it.
_DOCUMENT = re.compile(r"^Document \[(\d+)\]\(Title: ", re.MULTILINE)
#: A pair on a line of its own, as `kv_retrieval.format_items` writes it.
_PAIR = re.compile(r'^[{ ]"([^"\n]+)": "([^"\n]+)"[,}]*$', re.MULTILINE)
#: A code as the suite's tasks have them.
_CODE = re.compile(r"\b[A-Z]{3,}-[0-9]{4}\b")


def other_documents(prompt: str, target: Target) -> list[OtherItem]:
    """The documents of a prompt but the target's, by the numbers that they are shown with."""
    starts = list(_DOCUMENT.finditer(prompt))
    ends = [start.start() for start in starts[1:]] + [len(prompt)]
    items = []
    for start, end in zip(starts, ends, strict=True):
        # What follows the last one is no part of it.
        text = prompt[start.end() : end].split("\n\n", 1)[0]
        position = int(start[1]) - 1
        if position != target.position:
            items.append(OtherItem(position, text))
    return items


def other_pairs(prompt: str, target: Target) -> list[OtherItem]:
    """The pairs of a JSON object but the target's, each with its value."""
    pairs = enumerate(_PAIR.finditer(prompt))
    return [OtherItem(position, pair[0], pair[2]) for position, pair in pairs if position != target.position]


def other_coded_lines(prompt: str, target: Target) -> list[OtherItem]:
    """The items with a code but the target's, of a context that has an item a line; none without the target's place."""
    if target.span is None or target.position is None:
        return []
    own = prompt.count("\n", 0, target.span[0])
    lines = enumerate(prompt.split("\n"), start=target.position - own)
    found = ((position, line, _CODE.search(line)) for position, line in lines if position != target.position)
    return [OtherItem(position, line, code[0]) for position, line, code in found if code]

"""Exchanges of a long, dull conversation: what a user asks about made-up places and what an assistant answers."""

from random import Random

from litm.examples.text.wordings import capitalised, distinct_texts, places_for

WORDINGS = (
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
    texts = distinct_texts(rng, WORDINGS, places_for(rng, count), count)
    return [(capitalised(user), capitalised(assistant)) for user, assistant in texts]

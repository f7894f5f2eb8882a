"""Events of a chronicle, as clauses that follow a year."""

from collections.abc import Sequence
from random import Random

from litm.examples.text.wordings import distinct_texts

WORDINGS = (
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
    return [text for (text,) in distinct_texts(rng, [(wording,) for wording in WORDINGS], places, count)]

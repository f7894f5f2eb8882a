"""Persons and the companies that they found."""

from litm.corpora.encyclopedia.kinds import Fact, Form, Kind

# Each line has names easy to confuse, of a woman and of a man.
_GIVEN_NAMES = """
Edda Edvin | Alva Alvar | Ilsa Ilmar | Runa Rune | Tova Tovan | Marit Marek | Signe Sigurd | Jorun Jorund
Halla Halvard | Katla Kato | Liv Leiv | Oda Odd | Petra Petter | Ragna Ragnar | Solvi Solvan | Thora Thoren
Vilma Vilmar | Yrsa Yrjan | Berit Bertil | Dagny Dagfinn | Elin Eldar | Frida Fridtjof | Gerda Gerhard | Hedda Hedvin
Ingrid Ingvar | Janna Jannik | Karin Karsten | Lovisa Ludvik | Malin Malvin | Nora Norvin | Orla Orlan | Rika Rikard
"""
_PAIRS = tuple(tuple(pair.split()) for pair in _GIVEN_NAMES.replace("\n", "|").split("|") if pair.strip())
WOMEN = frozenset(woman for woman, _ in _PAIRS)
GIVEN_NAMES = tuple(name for pair in _PAIRS for name in pair)

_CALLINGS = (
    "painter",
    "composer",
    "chemist",
    "botanist",
    "engraver",
    "engineer",
    "sculptor",
    "astronomer",
    "historian",
    "lexicographer",
)

PERSON = Kind(
    label="person",
    article="",
    origin="from",
    forms=tuple(
        (Form(f"{first} {{}}", _CALLINGS), Form(f"{second} {{}}", _CALLINGS))
        for woman, man in _PAIRS
        for first, second in ((woman, man), (man, woman))
    ),
    details=(
        "a respected {noun}",
        "a prolific {noun}",
        "a little-known {noun}",
        "an influential {noun}",
        "a court {noun}",
        "an amateur {noun}",
        "a widely travelled {noun}",
    ),
    openings=(
        "{S} was {detail} from {region} who worked there for {few} years.",
        "{S}, {detail} from {region}, is remembered mainly through {her} pupils.",
        "{S} was {detail} who spent most of {her} life in {region}.",
        "In {region}, {s} is remembered as {detail} with few friends.",
        "{S}, born on {date}, was {detail} from {region}.",
        "A pupil of {person}, {s} was {detail} from {region}.",
    ),
    facts={
        "date": Fact(
            (
                "{S} was born on {date} as the youngest of a large family.",
                "The parish register gives {date} as the date of birth of {s}.",
                "Born on {date}, {s} grew up in the house of an uncle.",
                "The birth of {s} on {date} is recorded in a family bible.",
                "{S} came into the world on {date}, in a hard year for the district.",
            ),
            (
                "when was {n} born",
                "what is the date of birth of {n}",
                "on what day was {n} born",
            ),
        ),
        "number": Fact(
            (
                "The state archive keeps {number} sheets of notes by {s}.",
                "{S} left {number} sheets of notes, which are now in a state archive.",
                "Of the notes of {s}, {number} sheets survive.",
                "The collected notes of {s} fill {number} sheets.",
                "In all, {s} is known to have filled {number} sheets with notes.",
            ),
            (
                "how many sheets of notes by {n} survive",
                "how many sheets of notes did {n} leave",
                "what is the number of sheets filled with notes by {n}",
            ),
        ),
        "person": Fact(
            (
                "{S} studied under {person} for {few} years.",
                "The teacher of {s} was {person}.",
                "{person} taught {s} and later became a rival.",
                "{S} learned the trade from {person}.",
                "As a student {s} was taught by {person}.",
            ),
            (
                "who was the teacher of {n}",
                "who taught {n}",
                "under whom did {n} study",
            ),
        ),
        "name": Fact(
            (
                "{S} spent {her} last years at {name}.",
                "From {later} until {her} death {s} lived at {name}.",
                "{name} was the home of {s} from {later} on.",
                "With money from an aunt {s} bought {name} and lived there to the end.",
                "The last home of {s} was {name}, a house with {few} rooms.",
            ),
            (
                "what was the name of the last home of {n}",
                "in which house did {n} live until {her} death",
                "what was the house of {n} called",
            ),
        ),
    },
    coined=("{} House", "{} Lodge", "{} Hall", "{} Grange"),
    fillers=(
        "{S} died in {latest} and was buried at sea.",
        "In {later} {s} was elected to a learned society.",
        "{S} never married and kept few servants.",
        "A street in {other} is named after {s}.",
        "An illness in {later} forced {s} to rest for {few} months.",
        "{S} spoke {few} dialects and collected proverbs.",
    ),
)


def _company(*titles: str) -> tuple[Form, Form]:
    first, second = (Form(f"{{}} {title}", (title.split()[-1].lower(), "firm")) for title in titles)
    return first, second


COMPANY = Kind(
    label="company",
    article="the ",
    origin="in",
    forms=(
        _company("Glass Company", "Glue Company"),
        _company("Brewery", "Distillery"),
        _company("Pottery", "Tannery"),
        _company("Foundry", "Cannery"),
        _company("Rope Company", "Soap Company"),
        _company("Paper Mill", "Powder Mill"),
        _company("Clock Company", "Lock Company"),
        _company("Dairy", "Bakery"),
    ),
    details=(
        "a family-owned {noun}",
        "an independent {noun}",
        "a modest {noun}",
        "an export-minded {noun}",
        "a provincial {noun}",
        "a thriving {noun}",
        "an employee-owned {noun}",
    ),
    openings=(
        "{S} was {detail} in {region} with a staff of {many} at its height.",
        "{S}, {detail} in {region}, supplied households and the army.",
        "For several decades {s}, {detail}, was the main employer in {region}.",
        "{S} was {detail} in {region}, established on {date}.",
        "Founded by {person}, {s} was {detail} in {region}.",
        "{S}, {detail} in {region}, was known for its brand {name}.",
    ),
    facts={
        "date": Fact(
            (
                "{S} was founded on {date}.",
                "The deed of foundation of {s} was signed on {date}.",
                "On {date} {s} was entered in the trade register as a new business.",
                "The founding date of {s} is {date}.",
                "{S} began business on {date} in a rented shed.",
            ),
            (
                "when was {n} founded",
                "what is the founding date of {n}",
                "on what date was {n} established",
            ),
        ),
        "number": Fact(
            (
                "{S} started with a capital of {number} crowns.",
                "The starting capital of {s} was {number} crowns.",
                "A group of {few} farmers put {number} crowns of capital into {s}.",
                "At its foundation {s} had a capital of {number} crowns.",
                "Shares worth {number} crowns made up the first capital of {s}.",
            ),
            (
                "what was the starting capital of {n}",
                "how many crowns of capital did {n} start with",
                "how much capital did {n} have at its foundation",
            ),
        ),
        "person": Fact(
            (
                "{S} was founded by {person}.",
                "The founder of {s} was {person}, the child of a miller.",
                "{person} set up {s} with borrowed money.",
                "It was {person} who founded {s} after a journey abroad.",
                "{S} owed its foundation to {person}.",
            ),
            (
                "who founded {n}",
                "who was the founder of {n}",
                "who set up {n}",
            ),
        ),
        "name": Fact(
            (
                "{S} sold its goods under the brand {name}.",
                "The goods of {s} carried the brand name {name}.",
                "{name} was the registered trade mark of {s}.",
                "Customers knew the products of {s} as {name}.",
                "In {later} {s} registered the brand {name}.",
            ),
            (
                "under what brand did {n} sell its goods",
                "what was the brand name of {n}",
                "what brand belonged to {n}",
            ),
        ),
    },
    coined=("{}",),
    fillers=(
        "{S} closed in {latest} after a flood.",
        "In {later} {s} opened an agency in {other}.",
        "A strike stopped {s} for {few} weeks in {later}.",
        "{S} ran a school for the children of its workers.",
        "Most of the records of {s} were lost in a fire in {latest}.",
        "{S} won a bronze medal at a trade fair in {later}.",
    ),
)

"""Ships and festivals."""

from litm.corpora.encyclopedia.kinds import Fact, Form, Kind

_SAIL = ("barque", "brig", "schooner", "clipper")
_STEAM = ("steamer", "paddle steamer", "packet ship")

SHIP = Kind(
    label="ship",
    article="the ",
    origin="from",
    forms=(
        (Form("{} Star", _SAIL), Form("{} Light", _SAIL)),
        (Form("{} Maid", _SAIL), Form("{} Bride", _SAIL)),
        (Form("{} Pride", _SAIL), Form("{} Glory", _SAIL)),
        (Form("Queen of {}", _STEAM), Form("Pearl of {}", _STEAM)),
        (Form("Spirit of {}", _STEAM), Form("Star of {}", _STEAM)),
        (Form("{} Petrel", _SAIL), Form("{} Heron", _SAIL)),
    ),
    details=(
        "a wooden {noun}",
        "a fast {noun}",
        "a small {noun}",
        "a copper-bottomed {noun}",
        "an ill-fated {noun}",
        "an ocean-going {noun}",
        "a coastal {noun}",
    ),
    openings=(
        "{S} was {detail} registered in {region}, with a crew of {few}.",
        "{S}, {detail} from {region}, carried timber and mail.",
        "Among the ships of {region} was {s}, {detail} in the salt trade.",
        "{S} was {detail} that was launched in {region} on {date}.",
        "First commanded by {person}, {s} was {detail} from {region}.",
        "{S} was {detail} built by the {name} for owners in {region}.",
    ),
    facts={
        "date": Fact(
            (
                "{S} was launched on {date}.",
                "The launch of {s} took place on {date} at high tide.",
                "On {date} {s} was launched before a small crowd.",
                "{S} left the slipway on {date}, {few} months late.",
                "The date of launch of {s} is recorded as {date}.",
            ),
            (
                "when was {n} launched",
                "on what date was the launch of {n}",
                "when did {n} leave the slipway",
            ),
        ),
        "number": Fact(
            (
                "{S} covered {number} nautical miles in all.",
                "The logbooks of {s} add up to {number} nautical miles.",
                "In {few} years of service {s} sailed {number} nautical miles.",
                "Altogether {number} nautical miles are credited to {s}.",
                "{S} was laid up after {number} nautical miles at sea.",
            ),
            (
                "how many nautical miles did {n} sail",
                "what distance in nautical miles did {n} cover",
                "how many nautical miles are in the logbooks of {n}",
            ),
        ),
        "person": Fact(
            (
                "The first captain of {s} was {person}.",
                "{S} was first commanded by {person}.",
                "{person} took {s} out as its first captain.",
                "Command of {s} was given first to {person}.",
                "{S} made its maiden voyage under Captain {person}.",
            ),
            (
                "who was the first captain of {n}",
                "who first commanded {n}",
                "who was in command of {n} on its maiden voyage",
            ),
        ),
        "name": Fact(
            (
                "{S} was built by the {name}.",
                "The {name} built {s} from oak and larch.",
                "The builder of {s} was the {name}, which had {few} slipways.",
                "Owners in the grain trade ordered {s} from the {name}.",
                "{S} came from the {name}, which also built {few} tugs.",
            ),
            (
                "which shipyard built {n}",
                "at what yard was {n} built",
                "what was the name of the shipyard that built {n}",
            ),
        ),
    },
    coined=("{} Yard", "{} Dockyard", "{} Boatyard"),
    fillers=(
        "{S} was broken up in {latest}.",
        "In {later} {s} lost a mast off {other} and was towed home.",
        "A model of {s} hangs in a seamen's chapel.",
        "{S} carried a figurehead in the shape of a swan.",
        "A collision in {later} kept {s} in dock for {few} weeks.",
        "{S} had berths for {some} passengers.",
    ),
)

_FAIR, _FESTIVAL = ("fair", "event"), ("festival", "event")

FESTIVAL = Kind(
    label="festival",
    article="the ",
    origin="in",
    forms=(
        (Form("{} Fair", _FAIR), Form("{} Wool Fair", _FAIR)),
        (Form("{} Song Festival", _FESTIVAL), Form("{} Organ Festival", _FESTIVAL)),
        (Form("{} Lantern Festival", _FESTIVAL), Form("{} Harvest Festival", _FESTIVAL)),
        (Form("{} Horse Show", ("show", "event")), Form("{} Flower Show", ("show", "event"))),
        (Form("{} Regatta", ("regatta", "event")), Form("{} Carnival", ("carnival", "event"))),
    ),
    details=(
        "an annual {noun}",
        "a three-day {noun}",
        "a summer {noun}",
        "an open-air {noun}",
        "a biennial {noun}",
        "a much-loved {noun}",
        "an autumn {noun}",
    ),
    openings=(
        "{S} is {detail} in {region}, run by about {many} volunteers.",
        "{S}, {detail} in {region}, takes place on a meadow by the water.",
        "Visitors to {region} know {s}, {detail} with a torchlight parade.",
        "{S} is {detail} in {region} that was first held on {date}.",
        "Started by {person}, {s} is {detail} in {region}.",
        "{S} is {detail} in {region} at which the {name} is awarded.",
    ),
    facts={
        "date": Fact(
            (
                "{S} was held for the first time on {date}.",
                "The first edition of {s} dates from {date}.",
                "On {date} {s} was first held, with {few} stalls.",
                "The history of {s} begins on {date}, when it was first held.",
                "{S} opened its gates for the first time on {date}.",
            ),
            (
                "when was {n} first held",
                "on what date did {n} take place for the first time",
                "what was the date of {n} when it was first held",
            ),
        ),
        "number": Fact(
            (
                "The record attendance of {s} is {number} visitors, reached in {latest}.",
                "{S} drew a record {number} visitors in {latest}.",
                "With {number} visitors, {s} had its best year in {latest}.",
                "In {latest} {number} people attended {s}, more than ever before or since.",
                "No year has matched {latest}, when {s} counted {number} visitors.",
            ),
            (
                "what is the record attendance of {n}",
                "how many visitors came to {n} in its best year",
                "how many people attended {n} in the record year",
            ),
        ),
        "person": Fact(
            (
                "{S} was started by {person}.",
                "The idea for {s} came from {person}, a schoolteacher.",
                "{person} started {s} to raise money for a hospital.",
                "It was {person} who started {s} after a poor harvest.",
                "{S} goes back to a proposal by {person}.",
            ),
            (
                "who started {n}",
                "who had the idea for {n}",
                "who was the originator of {n}",
            ),
        ),
        "name": Fact(
            (
                "The main prize of {s} is the {name}.",
                "{S} ends with the award of the {name}, its main prize.",
                "Winners at {s} receive the {name}.",
                "The {name} is the highest award given at {s}.",
                "Since {later} {s} has awarded the {name} as its main prize.",
            ),
            (
                "what is the main prize of {n}",
                "which prize is awarded at {n}",
                "what do the winners at {n} receive",
            ),
        ),
    },
    coined=("{} Cup", "{} Medal", "{} Bowl", "{} Shield"),
    fillers=(
        "{S} was cancelled in {later} because of an epidemic.",
        "A special train to {s} ran until {latest}.",
        "The takings of {s} go to a fund for widows.",
        "{S} is opened by a drummer on horseback.",
        "In {later} {s} was moved to a larger site.",
        "Guests from {other} have attended {s} since {later}.",
    ),
)

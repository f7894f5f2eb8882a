"""Bridges and other structures, minerals."""

from litm.corpora.encyclopedia.kinds import Fact, Form, Kind

STRUCTURE = Kind(
    label="structure",
    article="the ",
    origin="in",
    forms=(
        (Form("{} Bridge", ("bridge",)), Form("{} Viaduct", ("viaduct",))),
        (Form("{} Lighthouse", ("lighthouse", "tower")), Form("{} Bell Tower", ("bell tower", "tower"))),
        (Form("{} Observatory", ("observatory", "building")), Form("{} Library", ("library", "building"))),
        (Form("{} Aqueduct", ("aqueduct",)), Form("{} Bridge", ("bridge",))),
        (Form("{} Theatre", ("theatre", "building")), Form("{} Corn Exchange", ("exchange", "building"))),
        (Form("{} Customs House", ("customs house", "building")), Form("{} Almshouse", ("almshouse", "building"))),
    ),
    details=(
        "a stone {noun}",
        "a granite {noun}",
        "a sandstone {noun}",
        "a limestone {noun}",
        "a listed {noun}",
        "a weathered {noun}",
        "a much-altered {noun}",
    ),
    openings=(
        "{S} is {detail} in {region}, standing {few} metres above the old road.",
        "{S}, {detail} in {region}, is a protected monument.",
        "One of the landmarks of {region} is {s}, {detail} begun by a town council.",
        "{S} is {detail} in {region} that was opened on {date}.",
        "Designed by {person}, {s} is {detail} in {region}.",
        "{S} is {detail} in {region}, put up at a cost of {number} crowns.",
    ),
    facts={
        "date": Fact(
            (
                "{S} was opened to the public on {date}.",
                "The opening of {s} took place on {date}, in heavy rain.",
                "On {date} {s} was opened with a procession.",
                "The public was first admitted to {s} on {date}.",
                "After {few} years of work, {s} was opened on {date}.",
            ),
            (
                "when was {n} opened",
                "on what date did {n} open to the public",
                "when did the opening of {n} take place",
            ),
        ),
        "number": Fact(
            (
                "{S} cost {number} crowns to build.",
                "The building costs of {s} came to {number} crowns.",
                "According to the accounts, {number} crowns were spent on building {s}.",
                "{S} was paid for by a loan of {number} crowns, the whole of its cost.",
                "A special tax repaid the {number} crowns that {s} had cost.",
            ),
            (
                "how many crowns did {n} cost to build",
                "what did it cost to build {n}",
                "how much was spent on building {n}",
            ),
        ),
        "person": Fact(
            (
                "{S} was designed by {person}.",
                "The design of {s} is by {person}, then a young engineer.",
                "{person} was the architect of {s}.",
                "The council chose a design for {s} by {person}.",
                "{S} is the only surviving work of the architect {person}.",
            ),
            (
                "who designed {n}",
                "who was the architect of {n}",
                "whose design was used for {n}",
            ),
        ),
        "name": Fact(
            (
                "The stone for {s} was cut at {name}.",
                "{S} was built with stone from {name}, brought by barge.",
                "{name} supplied the stone of which {s} is made.",
                "Blocks for {s} came from {name}, {few} kilometres away.",
                "{S} is faced with pale stone quarried at {name}.",
            ),
            (
                "where did the stone for {n} come from",
                "which quarry supplied the stone for {n}",
                "where was the stone of {n} quarried",
            ),
        ),
    },
    coined=("{} Quarry", "{} Pit", "{} Edge", "{} Delph"),
    fillers=(
        "{S} was strengthened with iron ties in {later}.",
        "Frost damaged {s} in {later}, and repairs took {few} months.",
        "A plaque on {s} names {few} workmen.",
        "{S} has been shown on banknotes and stamps.",
        "Every year about {many} swifts nest in the walls of {s}.",
        "A restoration of {s} was finished in {latest}.",
    ),
)

_MINERAL = ("mineral",)

MINERAL = Kind(
    label="mineral",
    article="",
    origin="from",
    forms=(
        (Form("{} spar", _MINERAL), Form("{} blende", _MINERAL)),
        (Form("{} jasper", ("mineral", "stone")), Form("{} agate", ("mineral", "stone"))),
        (Form("{} garnet", ("mineral", "stone")), Form("{} beryl", ("mineral", "stone"))),
        (Form("{} ochre", ("mineral", "pigment")), Form("{} earth", ("mineral", "pigment"))),
        (Form("{} glance", _MINERAL), Form("{} spar", _MINERAL)),
    ),
    details=(
        "a rare {noun}",
        "a brittle {noun}",
        "a fibrous {noun}",
        "a dense {noun}",
        "an iron-bearing {noun}",
        "a soft {noun}",
        "an unusually heavy {noun}",
    ),
    openings=(
        "{S} is {detail} found in {region} and in few other places.",
        "{S} is {detail} from {region}, sold for a time to makers of glazes.",
        "Collectors know {s} as {detail} from the slate belts of {region}.",
        "{S} is {detail} of {region}, first described by {person}.",
        "First collected on {date}, {s} is {detail} that occurs only in {region}.",
        "{S} is {detail} found in {region}, above all at {name}.",
    ),
    facts={
        "date": Fact(
            (
                "{S} was first collected on {date}.",
                "The first piece of {s} was collected on {date} by a road worker.",
                "On {date} a miner picked up the first known piece of {s}.",
                "A label gives {date} as the day on which {s} was discovered.",
                "The discovery of {s} on {date} went unnoticed for years.",
            ),
            (
                "when was {n} discovered",
                "on what date was {n} first collected",
                "when was the first piece of {n} found",
            ),
        ),
        "number": Fact(
            (
                "The type specimen of {s} has the catalogue number {number}.",
                "{S} is represented in the national collection by specimen {number}.",
                "Specimen {number} of the national collection is the type of {s}.",
                "The type specimen of {s} was entered in the register under number {number}.",
                "In the museum's catalogue the type specimen of {s} is number {number}.",
            ),
            (
                "what is the catalogue number of the type specimen of {n}",
                "which number does the type specimen of {n} have",
                "under what number is the type specimen of {n} registered",
            ),
        ),
        "person": Fact(
            (
                "{S} was first described by {person}.",
                "The first description of {s} was published by {person}.",
                "{person} described {s} in a paper of {few} pages.",
                "It was the chemist {person} who recognised {s} as a new substance.",
                "{S} owes its first description to {person}.",
            ),
            (
                "who first described {n}",
                "who published the first description of {n}",
                "who recognised {n} as a new substance",
            ),
        ),
        "name": Fact(
            (
                "The largest pieces of {s} come from {name}.",
                "{S} occurs in its largest pieces at {name}.",
                "{name} has yielded the largest known pieces of {s}.",
                "At {name}, {s} forms veins up to {few} centimetres wide, the largest known.",
                "No larger pieces of {s} are known than those of {name}.",
            ),
            (
                "where do the largest pieces of {n} come from",
                "which mine has the largest pieces of {n}",
                "where are the largest pieces of {n} found",
            ),
        ),
    },
    coined=("{} Mine", "{} Shaft", "{} Adit", "{} Level"),
    fillers=(
        "{S} melts slowly and leaves a grey residue.",
        "A use for {s} in enamels was proposed in {later}.",
        "About {many} kilograms of {s} have been recovered in all.",
        "{S} is often found together with calcite.",
        "Under a lamp {s} shows a weak glow.",
        "In {later} a dealer from {other} offered {s} as a gemstone.",
    ),
)

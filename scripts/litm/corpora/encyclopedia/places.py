"""Towns and rivers."""

from litm.corpora.encyclopedia.kinds import Fact, Form, Kind

_TOWN = ("town",)

TOWN = Kind(
    label="town",
    article="",
    origin="in",
    forms=(
        (Form("{}", _TOWN), Form("Upper {}", _TOWN)),
        (Form("{}", _TOWN), Form("{} Cross", _TOWN)),
        (Form("Nether {}", _TOWN), Form("Upper {}", _TOWN)),
        (Form("Port {}", _TOWN), Form("{}", _TOWN)),
        (Form("Great {}", _TOWN), Form("Little {}", _TOWN)),
        (Form("{} Ferry", _TOWN), Form("{} Cross", _TOWN)),
    ),
    details=(
        "a market {noun}",
        "a walled {noun}",
        "a mining {noun}",
        "a mill {noun}",
        "a railway {noun}",
        "a former spa {noun}",
        "an old garrison {noun}",
        "a cathedral {noun}",
    ),
    openings=(
        "{S} is {detail} in {region}, {some} kilometres from the provincial capital.",
        "{S}, {detail} in {region}, lies at the foot of the {other} hills.",
        "In {region}, at the junction of two old salt roads, stands {s}, {detail}.",
        "{S} is {detail} in {region} with a market charter dated {date}.",
        "{S} is {detail} in {region} that was laid out by {person}.",
        "On the northern edge of {region} is {s}, {detail} with {number} inhabitants in {latest}.",
    ),
    facts={
        "date": Fact(
            (
                "{S} received its market charter on {date}.",
                "The market charter of {s} is dated {date} and hangs in the council chamber.",
                "On {date} {s} was granted a charter to hold a weekly market.",
                "A weekly market has been held in {s} since the charter of {date}.",
                "{S} obtained its market charter on {date}, after {few} years of petitions.",
            ),
            (
                "when did {n} receive its market charter",
                "on what date was {n} granted a market charter",
                "what is the date of the market charter of {n}",
            ),
        ),
        "number": Fact(
            (
                "The census of {latest} counted {number} inhabitants in {s}.",
                "{S} had {number} inhabitants at the census of {latest}.",
                "In {latest} the population of {s} stood at {number}.",
                "By {latest} {s} had grown to a population of {number}.",
                "A count made in {latest} put the population of {s} at {number}.",
            ),
            (
                "what is the population of {n}",
                "how many inhabitants does {n} have",
                "what population was counted in {n}",
            ),
        ),
        "person": Fact(
            (
                "{S} was laid out by the surveyor {person}.",
                "The street plan of {s} is the work of {person}.",
                "{person} drew the street plan on which {s} was built.",
                "It was {person} who planned the streets of {s} around {few} small squares.",
                "The surveyor {person} laid out {s} on a plan of {many} equal plots.",
            ),
            (
                "who laid out the town of {n}",
                "who drew the street plan of {n}",
                "who planned the streets of {n}",
            ),
        ),
        "name": Fact(
            (
                "A hard cheese called {name} is made in {s}.",
                "{S} is the home of {name}, a cheese matured in salt cellars.",
                "The best-known product of {s} is a smoked cheese named {name}.",
                "Dairies in {s} make a blue cheese that is sold as {name}.",
                "{S} has given the region {name}, a soft cheese wrapped in leaves.",
            ),
            (
                "what cheese is made in {n}",
                "what is the name of the cheese from {n}",
                "which cheese comes from the town of {n}",
            ),
        ),
    },
    coined=("{}",),
    fillers=(
        "{S} has {some} listed houses and a small museum of local history.",
        "A branch line reached {s} in {later} and was closed {few} years later.",
        "{S} is surrounded by orchards and by the remains of older quarries.",
        "In {later} a fire destroyed {many} houses in {s}.",
        "The main church of {s} was rebuilt in {later} after a storm.",
        "Most of the working people of {s} travel to {other} every day.",
    ),
)

_RIVER, _STREAM = ("river", "stream"), ("stream", "watercourse")

RIVER = Kind(
    label="river",
    article="the ",
    origin="in",
    forms=(
        (Form("River {}", _RIVER), Form("{} Water", _RIVER)),
        (Form("River {}", _RIVER), Form("{} Brook", _STREAM)),
        (Form("{} Beck", _STREAM), Form("River {}", _RIVER)),
        (Form("{} Burn", _STREAM), Form("{} Water", _RIVER)),
        (Form("{} Brook", _STREAM), Form("{} Beck", _STREAM)),
    ),
    details=(
        "a shallow {noun}",
        "a fast-flowing {noun}",
        "an upland {noun}",
        "a meandering {noun}",
        "a chalk {noun}",
        "a peaty {noun}",
        "an often frozen {noun}",
    ),
    openings=(
        "{S} is {detail} in {region} with a length of {some} kilometres.",
        "{S}, {detail}, crosses {region} from east to west over {some} kilometres.",
        "Among the waters of {region} is {s}, {detail} that is {some} kilometres long.",
        "{S} is {detail} that rises at {name} and flows through {region}.",
        "Rising at {name}, {s} is {detail} of {region}.",
        "{S} is {detail} of {region} that was first mapped by {person}.",
    ),
    facts={
        "date": Fact(
            (
                "The highest flood of {s} was recorded on {date}.",
                "{S} reached its highest known level on {date}.",
                "On {date} {s} rose to the highest flood level on record.",
                "A stone near the mouth marks the great flood of {s} on {date}.",
                "The worst flood of {s}, which carried away {few} mills, came on {date}.",
            ),
            (
                "when was the highest flood of {n}",
                "on what date did {n} reach its highest level",
                "when did the worst flood of {n} happen",
            ),
        ),
        "number": Fact(
            (
                "{S} drains {number} hectares of moor and farmland.",
                "The catchment of {s} covers {number} hectares.",
                "The water board puts the basin of {s} at {number} hectares.",
                "An area of {number} hectares is drained by {s} and its {few} tributaries.",
                "{S} has a catchment of {number} hectares, most of it forest.",
            ),
            (
                "how many hectares does {n} drain",
                "what is the catchment area of {n}",
                "how large is the basin of {n} in hectares",
            ),
        ),
        "person": Fact(
            (
                "{S} was first mapped by {person}, who followed it on foot.",
                "The first map of {s} was drawn by {person}.",
                "{person} made the first complete map of {s}.",
                "It was the geographer {person} who first mapped {s} from end to end.",
                "{S} appears for the first time on a map by {person}.",
            ),
            (
                "who first mapped {n}",
                "who drew the first map of {n}",
                "who was the first person to map {n}",
            ),
        ),
        "name": Fact(
            (
                "{S} rises at {name}, {many} metres above the sea.",
                "The source of {s} is at {name}, beside a ruined chapel.",
                "{name} is regarded as the source of {s}.",
                "From its source at {name}, {s} runs south through a narrow gorge.",
                "{S} begins at {name} as a trickle between boulders.",
            ),
            (
                "where does {n} rise",
                "what is the source of {n}",
                "where is the source of {n} located",
            ),
        ),
    },
    coined=("{} Moor", "{} Fell", "{} Tarn", "{} Moss", "{} Spring"),
    fillers=(
        "{S} is crossed by {few} road bridges and one ford.",
        "Trout were released into {s} in {later} and have spread since.",
        "In {later} the lower course of {s} was straightened.",
        "{S} joins a larger river near {other}.",
        "Wild garlic grows along most of the banks of {s}.",
        "A gauge has measured the flow of {s} since {later}.",
    ),
)

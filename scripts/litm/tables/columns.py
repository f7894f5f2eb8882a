"""Kinds of columns as types of a row's fields, and columns that several tables have.

A field is `Annotated` with its kind, one of `table.KINDS`, and with its heading: `Heading`, or `shown` if the report
shows it. Its docstring is its description; a column of several tables has it here. A value of a kind may be missing; a
field whose value makers of rows compute with, and so never is, names its type beside its kind.
"""

from typing import Annotated

from litm.tables.table import Heading, Limit

Text = Annotated[str | None, "text"]
Integer = Annotated[int | None, "integer"]
Boolean = Annotated[bool | None, "boolean"]
Number = Annotated[float | None, "number"]
Money = Annotated[float | None, "money"]
Percent = Annotated[float | None, "percent"]
Index = Annotated[float | None, "index"]
Nats = Annotated[float | None, "nats"]
PValue = Annotated[float | None, "p_value"]

#: Fields after a value, NAME_ci_low and NAME_ci_high: its 95 % limits, of its kind, which the report shows with it.
Low = Annotated[float | None, Limit.LOW]
High = Annotated[float | None, Limit.HIGH]

Model = Annotated[str, "text", Heading("Model"), "name of the model"]
Experiment = Annotated[str, "text", Heading("Experiment"), "name of the experiment"]
Task = Annotated[str, "text", "the experiment's task"]
Metric = Annotated[str, "text", "the metric that judges the answers"]
Size = Annotated[int, "integer", Heading("Size"), "items in the context; tokens if the experiment has `tokens_of`"]
Items = Annotated[Integer, "items in the context; empty where a cut left different numbers"]
Placement = Annotated[str, "text", Heading("Placement"), "where the gold item is, as in the names of the example files"]
#: Of a table of curves.
CurvePlacement = Annotated[
    Text, Heading("Placement"), "placement of the curve if its prompts have several gold items, else empty"
]
Position = Annotated[Integer, "position of the gold item, from 0; empty without one"]
Depth = Annotated[Number, "position as a fraction, from 0 (first item) to 1 (last item)"]
Target = Annotated[str, "text", Heading("Target"), "which of the prompt's gold items"]

"""The kind of figure worst_position. Rules read this module at each start, so what draws is in another module."""

from litm.figures.kinds import Kind, has_positions

KINDS = {
    "worst_position": Kind(
        "worst_position",
        "my_task.figures._worst_position.draw",
        "Number of {item}s in the context",
        inputs=("accuracy",),
        each=(has_positions, "has no positions, a figure of {kind} is of experiments that have"),
    )
}

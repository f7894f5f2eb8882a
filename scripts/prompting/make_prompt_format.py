"""Find what a model's prompt format puts around a prompt, for the report; needs no weights.

output: JSON
"""

from litm.base.cli import program
from litm.base.json_files import write_json
from litm.base.loading import hide_torch
from litm.prompting.prompt_format import FormatOptions

if __name__ == "__main__":
    hide_torch()


@program
def main(format_options: FormatOptions, output: str) -> None:
    write_json(output, format_options.read().frame())

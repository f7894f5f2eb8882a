"""A server with OpenAI's protocol and a broken cache, to see whether `litm check --against` finds it.

It reads a prompt with a model of transformers into its cache of keys and values, moves the values of some depths by one
token, as a paged cache with a wrong offset does, and decodes greedily from it. Without --shift it is whole.

    PYTHONPATH=scripts python benchmarks/shifted_cache.py --model FOLDER --port 8001 --shift 0.33 0.67
    litm check --study serving.yaml --model shifted --against whole
"""

import argparse
import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


class Server:
    """A model whose cache is whole, or shifted at depths from `start` to `end` of the prompt."""

    def __init__(self, folder: str, start: float, end: float) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        self.start, self.end = start, end

    @torch.inference_mode()
    def answer(self, prompt: str, most: int) -> tuple[str, int, int, str]:
        """Text, tokens of the prompt and of the answer, and the reason of its end.

        The last token of the prompt is read after the shift, so the first token of the answer comes from the cache too.
        """
        ids = self.tokenizer(prompt, return_tensors="pt").input_ids
        cache = self.model(ids[:, :-1]).past_key_values
        shifted = slice(int(self.start * ids.shape[1]), int(self.end * ids.shape[1]))
        if shifted.start < shifted.stop:
            for layer in cache.layers:
                layer.values[:, :, shifted] = layer.values[:, :, shifted].roll(1, dims=2)
        token, answer = ids[:, -1:], []
        ends = self.model.generation_config.eos_token_id
        for _ in range(most):
            output = self.model(token, past_key_values=cache)
            cache, token = output.past_key_values, output.logits[:, -1:].argmax(-1)
            if token.item() in (ends if isinstance(ends, list) else [ends]):
                return self.tokenizer.decode(answer), ids.shape[1], len(answer) + 1, "stop"
            answer.append(token.item())
        return self.tokenizer.decode(answer), ids.shape[1], len(answer), "length"


def handler(server: Server, name: str) -> type[BaseHTTPRequestHandler]:
    """What answers requests."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.reply({"data": [{"id": name}]})

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            text, read, written, reason = server.answer(asked["prompt"], asked["max_tokens"])
            usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
            choice = {"index": 0, "text": text, "finish_reason": reason}
            self.reply({"id": "1", "object": "text_completion", "model": name, "choices": [choice], "usage": usage})

        def reply(self, body: dict[str, Any]) -> None:
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *words: object) -> None:
            pass

    return Handler


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="a folder with weights and tokenizer")
    parser.add_argument("--name", default="model", help="the name that requests give")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--shift", type=float, nargs=2, default=(0, 0), metavar=("FROM", "TO"), help="depths, 0 to 1")
    options = parser.parse_args()
    torch.set_num_threads(1)
    server = Server(options.model, *options.shift)
    HTTPServer(("127.0.0.1", options.port), handler(server, options.name)).serve_forever()


if __name__ == "__main__":
    main()

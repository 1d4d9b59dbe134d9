"""What the readers share: the arguments, the offered tools, and the neutral form they print.

A reader is called `read_<provider>.py BASE_URL MODE:KEY...`. It asks once for each of them and
prints one line of JSON for each:

    {"text", "thinking", "calls": [{"name", "arguments"}], "stop",
     "usage": {"input", "output", "cache_read"}, "error": {"status", "retry_after", "message"}}

The mode is `stream`, `whole` (not streamed) or `models` (their names, as the text). `stop` is one
of Artel's words, or the provider's own where there is none. Whatever is not known is null. Nothing
is read from the environment, so no proxy and no key of the machine is used.
"""

import json
import sys

MODEL = "stand-in-large"
SYSTEM = "Answer briefly."
PROMPT = "Hello"
PATH_SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
}
TOOLS = {"read": "Reads a file.", "write": "Writes a file."}

# The same tools in the form that OpenAI began and others took over.
FUNCTIONS = [
    {
        "type": "function",
        "function": {"name": name, "description": words, "parameters": PATH_SCHEMA},
    }
    for name, words in TOOLS.items()
]


class Answer:
    """An answer in the making."""

    def __init__(self):
        self.text = ""
        self.thinking = ""
        self.calls = []
        self.stop = None
        self.usage = None
        self.error = None

    def call(self, name, arguments):
        self.calls.append({"name": name, "arguments": arguments})

    def took(self, read, written, cached):
        self.usage = {"input": read, "output": written, "cache_read": cached}

    def failed(self, status, retry_after, message):
        self.error = {"status": status, "retry_after": retry_after, "message": message}


def main(connect, **modes):
    """Calls the mode's `function(connect(base_url, key), answer)` and prints the answer, in turn."""
    url, *wishes = sys.argv[1:]
    for wish in wishes:
        mode, key = wish.split(":", 1)
        answer = Answer()
        modes[mode](connect(url, key), answer)
        print(json.dumps(vars(answer)), flush=True)

"""Reads a stand-in with Anthropic's SDK."""

import anthropic

import neutral

STOPS = {"end_turn": "end"}
REQUEST = {
    "model": neutral.MODEL,
    "max_tokens": 1000,
    "system": neutral.SYSTEM,
    "messages": [{"role": "user", "content": neutral.PROMPT}],
    "tools": [
        {"name": name, "description": words, "input_schema": neutral.PATH_SCHEMA}
        for name, words in neutral.TOOLS.items()
    ],
}


def connect(url, key):
    return anthropic.Anthropic(base_url=url, api_key=key, max_retries=0)


def stream(client, answer):
    message = None
    try:
        with client.messages.stream(**REQUEST) as events:
            for _ in events:
                message = events.current_message_snapshot
    except anthropic.APIStatusError as error:
        # In the middle of a stream the status is still the one it began with.
        status = None if error.status_code == 200 else error.status_code
        wait = error.response.headers.get("retry-after")
        answer.failed(status, wait, error.body["error"]["message"])
    if message is not None:
        take(message, answer)


def whole(client, answer):
    take(client.messages.create(**REQUEST), answer)


def models(client, answer):
    answer.text = " ".join(model.id for model in client.models.list())


def take(message, answer):
    for block in message.content:
        if block.type == "text":
            answer.text += block.text
        elif block.type == "thinking":
            answer.thinking += block.thinking
            assert block.signature, "a thought without a signature"
        elif block.type == "tool_use" and answer.error is None:
            answer.call(block.name, block.input)
    if answer.error is None:
        usage = message.usage
        cached = usage.cache_read_input_tokens
        read = usage.input_tokens + cached + usage.cache_creation_input_tokens
        answer.took(read, usage.output_tokens, cached)
        answer.stop = STOPS.get(message.stop_reason, message.stop_reason)


neutral.main(connect, stream=stream, whole=whole, models=models)

"""Reads a stand-in of Responses with OpenAI's SDK."""

import json

import openai

import neutral

STOPS = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}
REQUEST = {
    "model": neutral.MODEL,
    "instructions": neutral.SYSTEM,
    "input": neutral.PROMPT,
    "store": False,
    "tools": [
        {
            "type": "function",
            "name": name,
            "description": words,
            "parameters": neutral.PATH_SCHEMA,
            "strict": False,
        }
        for name, words in neutral.TOOLS.items()
    ],
}


def connect(url, key):
    return openai.OpenAI(base_url=url, api_key=key, max_retries=0)


def stream(client, answer):
    try:
        # The SDK's own gathering of the pieces runs along, and fails where they do not fit.
        with client.responses.stream(**REQUEST) as events:
            for event in events:
                take(event, answer)
    except openai.APIStatusError as error:
        wait = error.response.headers.get("retry-after")
        answer.failed(error.status_code, wait, error.body["message"])


def whole(client, answer):
    keep(client.responses.create(**REQUEST), answer)


def models(client, answer):
    answer.text = " ".join(model.id for model in client.models.list())


def take(event, answer):
    if event.type in ("response.output_text.delta", "response.refusal.delta"):
        answer.text += event.delta
    elif event.type == "response.reasoning_summary_text.delta":
        answer.thinking += event.delta
    elif event.type in ("response.completed", "response.incomplete"):
        pieces = answer.text, answer.thinking
        answer.text = answer.thinking = ""
        keep(event.response, answer)
        assert pieces == (answer.text, answer.thinking), pieces
    elif event.type == "response.failed":
        answer.failed(None, None, event.response.error.message)
    elif event.type == "error":
        answer.failed(None, None, event.message)


def keep(response, answer):
    usage = response.usage
    answer.took(usage.input_tokens, usage.output_tokens, usage.input_tokens_details.cached_tokens)
    answer.stop = "end"
    for item in response.output:
        if item.type == "function_call":
            answer.call(item.name, json.loads(item.arguments))
            answer.stop = "tool_use"
        elif item.type == "reasoning":
            answer.thinking += "".join(part.text for part in item.summary)
            assert item.encrypted_content, "a thought that cannot be sent back"
        elif item.type == "message":
            for part in item.content:
                if part.type == "refusal":
                    answer.text += part.refusal
                    answer.stop = "refusal"
                else:
                    answer.text += part.text
    if response.incomplete_details is not None:
        reason = response.incomplete_details.reason
        answer.stop = STOPS.get(reason, reason)


neutral.main(connect, stream=stream, whole=whole, models=models)

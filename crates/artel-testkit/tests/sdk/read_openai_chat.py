"""Reads a stand-in of Chat Completions with OpenAI's SDK."""

import json

import openai

import neutral

STOPS = {
    "stop": "end",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
}
REQUEST = {
    "model": neutral.MODEL,
    "messages": [
        {"role": "system", "content": neutral.SYSTEM},
        {"role": "user", "content": neutral.PROMPT},
    ],
    "tools": neutral.FUNCTIONS,
}


def connect(url, key):
    return openai.OpenAI(base_url=url, api_key=key, max_retries=0)


def stream(client, answer):
    calls = {}
    try:
        chunks = client.chat.completions.create(
            **REQUEST, stream=True, stream_options={"include_usage": True}
        )
        for chunk in chunks:
            if chunk.usage is not None:
                count(chunk.usage, answer)
            for choice in chunk.choices:
                take(choice, choice.delta, answer)
                for piece in choice.delta.tool_calls or []:
                    call = calls.setdefault(piece.index, {"name": "", "arguments": ""})
                    call["name"] += piece.function.name or ""
                    call["arguments"] += piece.function.arguments or ""
    except openai.APIStatusError as error:
        wait = error.response.headers.get("retry-after")
        answer.failed(error.status_code, wait, error.body["message"])
    except openai.APIError as error:
        answer.failed(None, None, error.message)
    if answer.error is None:
        for _, call in sorted(calls.items()):
            answer.call(call["name"], json.loads(call["arguments"]))


def whole(client, answer):
    completion = client.chat.completions.create(**REQUEST)
    count(completion.usage, answer)
    message = completion.choices[0].message
    take(completion.choices[0], message, answer)
    for call in message.tool_calls or []:
        answer.call(call.function.name, json.loads(call.function.arguments))


def models(client, answer):
    answer.text = " ".join(model.id for model in client.models.list())


def count(usage, answer):
    cached = usage.prompt_tokens_details.cached_tokens
    answer.took(usage.prompt_tokens, usage.completion_tokens, cached)


def take(choice, said, answer):
    answer.text += said.content or ""
    answer.thinking += getattr(said, "reasoning_content", None) or ""
    if said.refusal:
        answer.text += said.refusal
        answer.stop = "refusal"
    if choice.finish_reason and answer.stop is None:
        answer.stop = STOPS.get(choice.finish_reason, choice.finish_reason)


neutral.main(connect, stream=stream, whole=whole, models=models)

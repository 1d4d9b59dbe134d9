"""Reads a stand-in with Ollama's SDK."""

import ollama

import neutral

STOPS = {"stop": "end", "length": "max_tokens"}
REQUEST = {
    "model": neutral.MODEL,
    "messages": [
        {"role": "system", "content": neutral.SYSTEM},
        {"role": "user", "content": neutral.PROMPT},
    ],
    "tools": neutral.FUNCTIONS,
}


def connect(url, key):
    headers = {"Authorization": f"Bearer {key}"}
    return ollama.Client(host=url, headers=headers, trust_env=False)


def stream(client, answer):
    try:
        for part in client.chat(**REQUEST, stream=True):
            take(part, answer)
    except ollama.ResponseError as error:
        # In the middle of a stream there is no status.
        status = None if error.status_code == -1 else error.status_code
        answer.failed(status, None, error.error)


def whole(client, answer):
    take(client.chat(**REQUEST), answer)


def models(client, answer):
    answer.text = " ".join(model.model.removesuffix(":latest") for model in client.list().models)


def take(part, answer):
    answer.text += part.message.content or ""
    answer.thinking += part.message.thinking or ""
    for call in part.message.tool_calls or []:
        answer.call(call.function.name, dict(call.function.arguments))
    if part.done:
        answer.took(part.prompt_eval_count, part.eval_count, None)
        reason = STOPS.get(part.done_reason, part.done_reason)
        answer.stop = "tool_use" if reason == "end" and answer.calls else reason


neutral.main(connect, stream=stream, whole=whole, models=models)

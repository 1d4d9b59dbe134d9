"""Reads a stand-in with Google's SDK."""

from google import genai
from google.genai import errors, types

import neutral

STOPS = {"STOP": "end", "MAX_TOKENS": "max_tokens", "SAFETY": "refusal"}
REQUEST = {
    "model": neutral.MODEL,
    "contents": neutral.PROMPT,
    "config": types.GenerateContentConfig(
        system_instruction=neutral.SYSTEM,
        tools=[
            types.Tool(
                function_declarations=[
                    types.FunctionDeclaration(
                        name=name, description=words, parameters=neutral.PATH_SCHEMA
                    )
                    for name, words in neutral.TOOLS.items()
                ]
            )
        ],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    ),
}


def connect(url, key):
    # One attempt: the SDK counts the first one too.
    options = types.HttpOptions(
        base_url=url,
        retry_options=types.HttpRetryOptions(attempts=1),
        client_args={"trust_env": False},
    )
    return genai.Client(api_key=key, http_options=options)


def stream(client, answer):
    try:
        for chunk in client.models.generate_content_stream(**REQUEST):
            take(chunk, answer)
    except errors.APIError as error:
        answer.failed(error.code, retry_after(error), error.message)
        answer.usage = None


def whole(client, answer):
    take(client.models.generate_content(**REQUEST), answer)


def models(client, answer):
    answer.text = " ".join(model.name.removeprefix("models/") for model in client.models.list())


def take(chunk, answer):
    usage = chunk.usage_metadata
    if usage is not None:
        written = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
        answer.took(usage.prompt_token_count, written, usage.cached_content_token_count)
    if chunk.prompt_feedback is not None and chunk.prompt_feedback.block_reason is not None:
        answer.stop = "refusal"
    for candidate in chunk.candidates or []:
        for part in (candidate.content and candidate.content.parts) or []:
            if part.function_call is not None:
                answer.call(part.function_call.name, part.function_call.args)
            elif part.thought:
                answer.thinking += part.text
            else:
                answer.text += part.text or ""
        if candidate.finish_reason is not None:
            reason = STOPS.get(candidate.finish_reason.value, candidate.finish_reason.value)
            answer.stop = "tool_use" if reason == "end" and answer.calls else reason


def retry_after(error):
    for detail in error.details.get("error", {}).get("details", []):
        if detail["@type"].endswith("google.rpc.RetryInfo"):
            return detail["retryDelay"].removesuffix("s")
    return None


neutral.main(connect, stream=stream, whole=whole, models=models)

"""A chat model for LangChain's packages that calls tools as it is told to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def judged_chat(answer: Callable[[str], list[tuple[str, dict[str, Any]]]]) -> Any:
    """A model that calls what `answer` says of the prompt's text: tools by name, with their arguments."""
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    class JudgedChat(BaseChatModel):  # type: ignore[misc, unused-ignore]  # the package may not be there
        _llm_type = "judged"

        def bind_tools(self, *_: Any, **__: Any) -> Any:
            return self

        def _generate(self, messages: Any, *_: Any, **__: Any) -> Any:
            tools = answer("\n".join(str(message.content) for message in messages))
            calls = [{"name": name, "args": given, "id": str(number)} for number, (name, given) in enumerate(tools)]
            return ChatResult(generations=[ChatGeneration(message=AIMessage(content="", tool_calls=calls))])

    return JudgedChat()

"""Functions whose errors speak of keywords, where those of the command line speak of options."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection
from functools import wraps
from typing import ParamSpec, TypeVar

from ssdscope.errors import SsdscopeError, UsageError, nearest

P = ParamSpec("P")
T = TypeVar("T")

_OPTION = re.compile(r"(?<!\S)--([a-z][a-z0-9-]*)")


def keyworded(*, also: Collection[str] = ()) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Make a function refuse unknown keywords with the nearest, and errors name keywords.

    A hint is added to an error as a note, which Python shows below the message.

    Parameters
    ----------
    also
        Keywords that the function takes beside those of its signature.
    """

    def made(function: Callable[P, T]) -> Callable[P, T]:
        parameters = inspect.signature(function).parameters.values()
        known = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY] + [*also]

        @wraps(function)
        def called(*args: P.args, **given: P.kwargs) -> T:
            try:
                for name in given:
                    if name not in known:
                        _refuse(function.__name__, name, known)
                return function(*args, **given)
            except SsdscopeError as error:
                _speak_of_keywords(error)
                raise error from None  # what it was translated from says the same again

        return called

    return made


def _refuse(function: str, name: str, known: Collection[str]) -> None:
    raise UsageError(f"{function}() takes no keyword {name!r}", hint=nearest(name, known))


def _speak_of_keywords(error: SsdscopeError) -> None:
    """Turn ``--number-ios: ...`` into ``number_ios: ...``, and show the hint."""
    error.message = _keywords_in(error.message)
    error.args = (error.message,)
    if error.hint is not None:
        if "ssdscope " not in error.hint:  # that is a line to type in a shell
            error.hint = _keywords_in(error.hint)
        error.add_note(f"hint: {error.hint}")


def _keywords_in(text: str) -> str:
    return _OPTION.sub(lambda option: option[1].replace("-", "_"), text)

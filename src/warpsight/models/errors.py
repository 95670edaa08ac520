"""What can go wrong between us and a model, one tree; messages never hold a key.

`usage` is what a reply that cannot be used has cost (it was answered, so it is charged); `wasted` is what attempts that
broke off had used. Exit codes: 2 the request is wrong, 6 the model cannot be had or answers nonsense.
"""

from __future__ import annotations

from typing import ClassVar

from warpsight.errors import WarpsightError
from warpsight.models.model import Usage


class ModelError(WarpsightError):
    """The root: no usable reply came."""

    exit_code: ClassVar[int] = 6

    def __init__(
        self, message: str, hint: str | None = None, *, usage: Usage | None = None, wasted: Usage | None = None
    ) -> None:
        super().__init__(message, hint)
        self.usage = usage or Usage()
        self.wasted = wasted or Usage()


class ModelUnavailable(ModelError):
    """No connection, too many requests, a server error or a time-out, still after all attempts."""


class ModelRefused(ModelError):
    """The provider said no (key, model name, quota, a request it does not take): asking again is no use. `status` is
    the HTTP status that it said so with, if any."""

    exit_code: ClassVar[int] = 2
    status: int | None = None


class BadReply(ModelError):
    """An answer came that is not in the provider's own format."""


class EmptyReply(BadReply):
    """The answer holds no text, no reasoning and no call."""


class CutReply(BadReply):
    """The answer ended inside a call, so it can neither be run nor sent back; `text` is what came before."""

    def __init__(self, message: str, hint: str | None = None, *, text: str = "", usage: Usage | None = None) -> None:
        super().__init__(message, hint, usage=usage)
        self.text = text


class ReplyTooLarge(BadReply):
    """The answer is larger than the cap; reading stopped there."""


class ScriptEnded(ModelError):
    """A scripted model was asked more often than its script has replies."""


class PullFailed(WarpsightError):
    """Weights could not be fetched, or what came is not what was asked for. What is good of it is kept."""

    exit_code: ClassVar[int] = 6

"""What a bandit refuses."""

from __future__ import annotations

from typing import Any


class BanditError(ValueError):
    """What a bandit refuses: a sentence for people, and `code` for programs. The bandit is as it was.

    ``invalid``: the event, the number or the setting is wrong. ``unknown_decision``, ``already_learned``, ``expired``:
    a reward that nobody waits for. ``conflict``: the id of a decision, with other content. ``damaged``,
    ``other_version``: bytes that cannot be read.

    Examples
    --------
    >>> import truenorth
    >>> bandit = truenorth.Bandit("price + id")
    >>> try:
    ...     bandit.learn("nobody", 1.0)
    ... except truenorth.BanditError as error:
    ...     print(error.code)
    unknown_decision
    """

    def __init__(self, sentence: str, code: str = "invalid") -> None:
        super().__init__(sentence)
        self.code = code

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.code)

"""What one invocation knows about itself: its words, and how to say them again."""

import secrets
import shlex
from dataclasses import dataclass

from ssdscope.cli.output import note

_SEED_BITS = 32


@dataclass(frozen=True)
class Session:
    """One invocation of the command line."""

    argv: tuple[str, ...]
    debug: bool = False

    def seed(self, given: int | None) -> int:
        """Take the seed given, or draw one; a drawn seed is told."""
        if given is not None:
            return given
        drawn = secrets.randbits(_SEED_BITS)
        note(f"seed {drawn} (drawn)")
        return drawn

    def repeat(self, seed: int) -> None:
        """Tell the command line that does the same again."""
        words = [*self.argv]
        if not any(word == "--seed" or word.startswith("--seed=") for word in words):
            words += ["--seed", str(seed)]
        note(f"repeat: ssdscope {shlex.join(words)}")

"""What one invocation knows about itself: its words, and how to say them again."""

from dataclasses import dataclass

from ssdscope.cli.output import note
from ssdscope.seeds import require_seed

_DRAWN_BITS = 32


@dataclass(frozen=True)
class Session:
    """One invocation of the command line."""

    argv: tuple[str, ...]
    debug: bool = False

    def seed(self, given: int | None) -> int:
        """Take the seed given, or draw one; a drawn seed is told.

        Raises
        ------
        UsageError
            If the given one is out of range.
        """
        if given is not None:
            return require_seed(given)
        import secrets

        drawn = secrets.randbits(_DRAWN_BITS)
        note(f"seed {drawn} (drawn)")
        return drawn

    def words(self, seed: int, *, without: str = "") -> list[str]:
        """Give the words of the command line that does the same again, without a flag of it."""
        words = [word for word in self.argv if word != without]
        if not any(word == "--seed" or word.startswith("--seed=") for word in words):
            words += ["--seed", str(seed)]
        return words

    def repeat(self, seed: int, *, without: str = "") -> None:
        """Tell the command line that does the same again."""
        from ssdscope.targets.names import shell_words

        note(f"repeat: ssdscope {shell_words(self.words(seed, without=without))}")

    def go_on(self, seed: int, flag: str) -> None:
        """Tell the command line that goes on with what was interrupted."""
        from ssdscope.targets.names import shell_words

        words = [*self.words(seed, without=flag), flag]
        note(f"go on with: ssdscope {shell_words(words)}")

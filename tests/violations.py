"""Rules that hold in many places: one test tries them all and names each place that breaks one."""


class Violations:
    """Collects what breaks a rule, so that a failure lists every place at once."""

    def __init__(self) -> None:
        self.tried = 0
        self.found: list[str] = []

    def check(self, holds: object, where: str, what: str = "") -> None:
        """Try the rule in one place, as ``path:line``."""
        self.tried += 1
        if not holds:
            self.found.append(f"{where}: {what}" if what else where)

    def none(self, least: int = 1) -> None:
        """Fail with all that was found, and if fewer places than ``least`` were tried."""
        assert self.tried >= least, f"the rule was tried in {self.tried} places only"
        assert not self.found, "\n".join(["", *self.found])

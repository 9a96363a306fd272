"""What the compiled module is made from: for a bug report, and for whoever repeats a result."""

from dataclasses import dataclass

from ssdscope import _native


@dataclass(frozen=True)
class NativeBuild:
    """What the compiled module is made from.

    Attributes
    ----------
    commit
        Seven digits of the commit, ``with changes`` behind it if files differed from it;
        ``unknown`` outside of a repository. In a checkout Python files may be newer.
    compiler
        As ``rustc 1.88.0``.
    interface
        The stable interface to Python, as ``abi3 cp311``: every Python from 3.11 on.
    """

    commit: str
    compiler: str
    interface: str

    def __str__(self) -> str:
        return f"commit {self.commit}, {self.compiler}, {self.interface}"


def native_build() -> NativeBuild:
    """Say what the compiled module is made from."""
    return NativeBuild(*_native.build())

"""The cheapest placement: an integer programme, and sets of workloads cut off that fail.

Which workloads may share a drive is not linear, and known only when it is tried. So the programme
is solved without that; the sets that it chose are tried; each that fails is made as small as it
still fails, and forbidden with everything that contains it; and the programme is solved again. As
cuts forbid only what fails, the first placement that passes is the cheapest: a drive is never
faster for having more to do.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ssdscope.errors import SsdscopeError

Set = frozenset[int]
"""Workloads, by their places."""
Fails = Callable[[int, Set], bool]
ROUNDS = 500
SOLVER_S = 60.0
"""A programme that takes longer is given up."""
OPTIMAL, INFEASIBLE = 0, 2
"""What scipy's `milp` calls them."""
TOLD_APART = 1e-3
"""What differs by this share of the whole is told apart by the solver with digits to spare."""


@dataclass(frozen=True)
class Kind:
    """A kind of drive: what one costs and holds, and how many there are.

    Attributes
    ----------
    room
        By resource (capacity, bytes written): how much one has; infinite for no matter.
    """

    price: float
    room: tuple[float, ...]
    count: int


@dataclass(frozen=True)
class Programme:
    """What is to be placed, and where it may be.

    Attributes
    ----------
    kinds
        Of drives.
    needs
        By workload and resource, shape (n, resources).
    prefers
        By workload and kind, what decides between placements of one cost; shape (n, kinds).
    cost
        The most that all may cost; infinite for no matter.
    """

    kinds: Sequence[Kind]
    needs: np.ndarray
    prefers: np.ndarray
    cost: float = np.inf


@dataclass(frozen=True)
class Placed:
    """A placement: kinds of the drives that are taken, each with its workloads.

    Attributes
    ----------
    rounds
        How often the programme was solved.
    """

    drives: tuple[tuple[int, Set], ...]
    cost: float
    rounds: int


def cheapest(
    problem: Programme, fails: Fails, surely_fails: Fails | None = None, *, rounds: int = ROUNDS
) -> Placed | None:
    """Find the cheapest placement.

    Parameters
    ----------
    problem
        What is linear.
    fails
        Says whether a set of workloads may not be on one drive of a kind; asked only for what the
        programme chose, and parts of it.
    surely_fails
        A dearer look at sets of a placement that passed.
    rounds
        So often the programme is solved at most.

    Returns
    -------
    Placed or None
        None if there is no placement.

    Raises
    ------
    SsdscopeError
        If so many rounds did not decide it.
    """
    model = _Model(problem)
    for solved in range(1, rounds + 1):
        chosen = model.solve()
        if chosen is None:
            return None
        failing = [
            (kind, smallest(partial(fails, kind), these))
            for kind, these in chosen
            if fails(kind, these)
        ]
        if not failing and surely_fails is not None:
            failing = [each for each in chosen if surely_fails(*each)]
        if not failing:
            price = sum(problem.kinds[kind].price for kind, _ in chosen)
            return Placed(tuple(chosen), price, solved)
        for kind, these in failing:
            model.forbid(kind, these)
    raise SsdscopeError(
        f"{rounds} placements were tried, and none keeps the limits, yet others are left",
        hint="fewer workloads or drives at a time, or looser limits, decide it",
    )


def smallest(fails: Callable[[Set], bool], these: Set) -> Set:
    """Leave out what is not needed for a set to fail."""
    for each in sorted(these):
        rest = these - {each}
        if rest and fails(rest):
            these = rest
    return these


class _Model:
    """The programme as scipy has it: variables are x[workload, drive] and y[drive]."""

    def __init__(self, problem: Programme) -> None:
        self.problem = problem
        self.loads = len(problem.needs)
        self.copies = [
            kind
            for kind, each in enumerate(problem.kinds)
            for _ in range(min(each.count, self.loads))
        ]
        self.size = (self.loads + 1) * len(self.copies)
        self.rows: list[tuple[dict[int, float], float, float]] = []
        self._place_each()
        self._hold()
        self._order_copies()
        if np.isfinite(problem.cost):
            self.rows.append(self._at_most(problem.cost))

    def _x(self, load: int, drive: int) -> int:
        return load * len(self.copies) + drive

    def _y(self, drive: int) -> int:
        return self.loads * len(self.copies) + drive

    def _at_most(self, cost: float) -> tuple[dict[int, float], float, float]:
        """Return the row by which all drives together cost no more."""
        prices = {
            self._y(drive): self.problem.kinds[kind].price for drive, kind in enumerate(self.copies)
        }
        return prices, -np.inf, cost

    def _place_each(self) -> None:
        drives = range(len(self.copies))
        for load in range(self.loads):
            self.rows.append(({self._x(load, drive): 1.0 for drive in drives}, 1.0, 1.0))
            self.rows += [
                ({self._x(load, drive): 1.0, self._y(drive): -1.0}, -np.inf, 0.0)
                for drive in drives
            ]

    def _hold(self) -> None:
        for drive, kind in enumerate(self.copies):
            for resource, room in enumerate(self.problem.kinds[kind].room):
                if not np.isfinite(room):
                    continue
                scale = max(room, 1e-30)
                row = {
                    self._x(load, drive): float(self.problem.needs[load, resource]) / scale
                    for load in range(self.loads)
                }
                self.rows.append(({**row, self._y(drive): -1.0}, -np.inf, 0.0))

    def _order_copies(self) -> None:
        """Order drives of a kind by their first workloads, so that none is tried in two ways."""
        for drive in range(1, len(self.copies)):
            if self.copies[drive] != self.copies[drive - 1]:
                continue
            for load in range(self.loads):
                row = {self._x(earlier, drive - 1): -1.0 for earlier in range(load)}
                self.rows.append(({**row, self._x(load, drive): 1.0}, -np.inf, 0.0))

    def forbid(self, kind: int, these: Set) -> None:
        """Forbid a set, and all that contain it, on every drive of a kind."""
        for drive, of in enumerate(self.copies):
            if of == kind:
                row = {self._x(load, drive): 1.0 for load in these}
                self.rows.append((row, -np.inf, len(these) - 1.0))

    def solve(self) -> list[tuple[int, Set]] | None:
        """Find the cheapest placement, and of several at its price the one that is preferred."""
        prices = np.array([self.problem.kinds[kind].price for kind in self.copies])
        weights = self.problem.prefers[:, self.copies].ravel()
        pairs = len(weights)
        found = self._least(np.concatenate([np.zeros(pairs), prices]))
        if found is None:
            return None
        best, price = found[:pairs], prices @ found[pairs:]
        at_price = self._at_most(price)
        while (waited := weights @ best) > 0:
            # What weighs more than all of a placement stands in none that is better. To count it
            # as that much keeps the sum among numbers that the solver tells apart.
            costs = np.minimum(weights, waited) / waited
            found = self._least(np.concatenate([costs, np.zeros(len(prices))]), at_price)
            if found is None or prices @ found[pairs:] > price or weights @ found[:pairs] >= waited:
                break
            best = found[:pairs]
            if weights @ best > TOLD_APART * waited:
                break
        sets = [
            frozenset(map(int, np.flatnonzero(each))) for each in best.reshape(self.loads, -1).T
        ]
        return [(kind, each) for kind, each in zip(self.copies, sets, strict=True) if each]

    def _least(
        self, costs: np.ndarray, *more: tuple[dict[int, float], float, float]
    ) -> np.ndarray | None:
        """Choose variables that cost least under all rows; None if none keep them."""
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array

        rows = [*self.rows, *more]
        cells = [(r, c, v) for r, (row, _, _) in enumerate(rows) for c, v in row.items()]
        at, column, value = zip(*cells, strict=True)
        matrix = csr_array((value, (at, column)), shape=(len(rows), self.size))
        found = milp(
            costs,
            integrality=np.ones(self.size, dtype=int),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(
                matrix, [low for _, low, _ in rows], [high for _, _, high in rows]
            ),
            options={"mip_rel_gap": 0.0, "time_limit": SOLVER_S},
        )
        if found.status == INFEASIBLE:
            return None
        if found.status != OPTIMAL or found.x is None:
            raise SsdscopeError(
                f"{len(self.problem.needs)} workloads on {len(self.copies)} drives are too many to "
                f"decide: {found.message}",
                hint="fewer workloads, drives or copies of a drive at a time",
            )
        return np.round(found.x)

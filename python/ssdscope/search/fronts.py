"""Which trials are best: those that keep all limits and that no other beats in everything."""

from collections.abc import Sequence

Values = tuple[float, ...]


def dominates(one: Values, other: Values) -> bool:
    """Say whether one is nowhere worse, and somewhere better; less is better."""
    pairs = list(zip(one, other, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)


def front(points: Sequence[Values]) -> list[int]:
    """Give the places of the points that none dominates, of equal ones the first, in order."""
    kept: list[int] = []
    for place in sorted(range(len(points)), key=lambda place: (points[place], place)):
        # Whoever could dominate this point sorts before it.
        if all(
            points[other] != points[place] and not dominates(points[other], points[place])
            for other in kept
        ):
            kept.append(place)
    return kept


def hypervolume(points: Sequence[Values], corner: Values) -> float:
    """Measure what two figures win together: the area between a front and a corner beyond it.

    Points beyond the corner win nothing.
    """
    inside = [point for point in points if all(a < b for a, b in zip(point, corner, strict=True))]
    area, right_edge = 0.0, corner[1]
    for place in front(inside):
        x, y = inside[place]
        area += (corner[0] - x) * (right_edge - y)
        right_edge = y
    return area

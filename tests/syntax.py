"""Sources as syntax trees, each read and walked once for all rules about them."""

import ast
from functools import cache
from pathlib import Path


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(text_of(path))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a file, as `ast.walk` gives them."""
    return tuple(ast.walk(tree_of(path)))

"""The stub of the native module says what the module is."""

import ast
import inspect
from pathlib import Path

import pytest

from ssdscope import _native

STUB = ast.parse(
    (Path(__file__).parents[2] / "python" / "ssdscope" / "_native.pyi").read_text(encoding="utf-8")
)

Signatures = dict[str, list[str] | None]


def arguments(function: ast.FunctionDef) -> list[str]:
    return [each.arg for each in (*function.args.posonlyargs, *function.args.args)]


def written() -> Signatures:
    """Names of the stub; what can be called with its arguments, classes without."""
    found: Signatures = {}
    for node in STUB.body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = arguments(node)
        elif isinstance(node, ast.ClassDef):
            found[node.name] = None
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and not method.name.startswith("_"):
                    found[f"{node.name}.{method.name}"] = arguments(method)
    return found


def compiled() -> Signatures:
    """The same of the module itself."""
    found: Signatures = {}
    for name, thing in vars(_native).items():
        if name.startswith("_"):
            continue
        if not inspect.isclass(thing):
            found[name] = list(inspect.signature(thing).parameters)
            continue
        found[name] = None
        if not issubclass(thing, BaseException):
            methods = {key: each for key, each in vars(thing).items() if not key.startswith("_")}
            for key, method in methods.items():
                found[f"{name}.{key}"] = list(inspect.signature(method).parameters)
    return found


def test_names_and_arguments_agree() -> None:
    assert written() == compiled()


@pytest.mark.parametrize(
    "node",
    [each for each in STUB.body if isinstance(each, ast.ClassDef)],
    ids=lambda node: node.name,
)
def test_bases_and_finality_agree(node: ast.ClassDef) -> None:
    real = getattr(_native, node.name)
    bases = [base.id for base in node.bases if isinstance(base, ast.Name)] or ["object"]
    assert [base.__name__ for base in real.__bases__] == bases
    assert real.__module__ == "ssdscope._native"
    if node.decorator_list:
        with pytest.raises(TypeError, match="not an acceptable base"):
            type("Derived", (real,), {})


def test_every_argument_and_result_is_typed() -> None:
    functions = [each for each in ast.walk(STUB) if isinstance(each, ast.FunctionDef)]
    assert len(functions) > 20
    for function in functions:
        assert function.returns is not None, function.name
        for argument in function.args.args:
            assert argument.arg == "self" or argument.annotation is not None, function.name

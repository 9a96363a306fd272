"""Plain texts of settings: ``name = value;`` or ``NAME value`` in lines, in sections or not."""

from ssdscope.errors import ConfigError


def settings(text: str, path: str, *, between: str = "=", comment: str = "#") -> dict[str, str]:
    """Read the settings of a text without sections; of one that is there twice the last.

    Parameters
    ----------
    text
        The file.
    path
        What messages call it.
    between
        What stands between name and value; blanks if empty.
    comment
        What begins a comment.

    Raises
    ------
    ConfigError
        If a line is no setting.
    """
    found: dict[str, str] = {}
    for number, whole in enumerate(text.splitlines(), start=1):
        line = whole.partition(comment)[0].strip().rstrip(";").strip()
        if not line:
            continue
        name, separator, value = line.partition(between) if between else _two(line)
        if not separator or not name.strip():
            form = f"NAME {between} VALUE" if between else "NAME VALUE"
            raise ConfigError(f"{path}, line {number}: {line[:60]!r} is no setting: {form}")
        found[" ".join(name.split())] = value.strip()
    return found


def sections(text: str, path: str) -> dict[str, dict[str, str]]:
    """Read the settings of each section ``[name]``; those before the first stand under ``""``.

    Raises
    ------
    ConfigError
        If a line is no setting.
    """
    parts: dict[str, list[str]] = {"": []}
    name = ""
    for number, line in enumerate(text.splitlines(), start=1):
        head = line.partition("#")[0].strip()
        if head.startswith("[") and head.endswith("]"):
            name = head[1:-1].strip()
            parts.setdefault(name, [""] * number)
        else:
            parts[name].append(line)
    return {each: settings("\n".join(lines), path) for each, lines in parts.items()}


def _two(line: str) -> tuple[str, str, str]:
    name, *rest = line.split(maxsplit=1)
    return name, " " if rest else "", rest[0] if rest else ""

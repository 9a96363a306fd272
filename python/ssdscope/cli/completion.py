"""Completion in bash, zsh and fish: the scripts, their installation, and the answers.

A shell hands over the line up to the cursor. Commands, options and values come from the command
line itself; values from `choices` and `target_names`. Where nothing is answered, the shell
completes names of files.
"""

import contextlib
import os
import shlex
from pathlib import Path
from typing import Any

import typer

from ssdscope.cli.output import emit, note
from ssdscope.errors import EXIT_DONE, EXIT_USAGE, UsageError

ASKED = "_SSDSCOPE_COMPLETE"
"""The variable of the environment that asks for completion: ``complete_bash``, ``source_zsh``."""
LINE, BREAKS = "_SSDSCOPE_LINE", "_SSDSCOPE_BREAKS"

SCRIPTS = {
    "bash": """\
_ssdscope_completion() {
    local IFS=$'\\n'
    COMPREPLY=( $(env _SSDSCOPE_COMPLETE=complete_bash _SSDSCOPE_BREAKS="$COMP_WORDBREAKS" \\
        _SSDSCOPE_LINE="${COMP_LINE:0:COMP_POINT}" "$1" 2>/dev/null) )
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[:/=,] ]]; then
        compopt -o nospace
    fi
}
complete -o default -o nosort -F _ssdscope_completion ssdscope
""",
    "zsh": """\
#compdef ssdscope
_ssdscope_completion() {
    local -a found whole begun
    found=(${(f)"$(env _SSDSCOPE_COMPLETE=complete_zsh \\
        _SSDSCOPE_LINE="${words[1,$CURRENT]}" ssdscope 2>/dev/null)"})
    whole=(${${(M)found:#1*}#1})
    begun=(${${(M)found:#0*}#0})
    if (( ! $#found )); then
        _files
        return
    fi
    (( $#whole )) && _describe -V ssdscope whole
    (( $#begun )) && _describe -V ssdscope begun -S ''
    return 0
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _ssdscope_completion "$@"
else
    compdef _ssdscope_completion ssdscope
fi
""",
    "fish": """\
function __ssdscope_completion
    set -l found (env _SSDSCOPE_COMPLETE=complete_fish \\
        _SSDSCOPE_LINE=(commandline --cut-at-cursor --current-process | string collect) \\
        ssdscope 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline --current-token)
    end
end
complete --command ssdscope --no-files --keep-order --arguments '(__ssdscope_completion)'
""",
}
"""What each shell reads once, at its start."""
_GO_ON = (":", "/", "=", ",")
"""What ends like this goes on: no space follows."""
_QUOTES_AND_SPACE = " \t\n\"'"


def answer(command: Any, instruction: str) -> int:
    """Answer a shell: print what may come next, or the script that asks for it."""
    what, _, shell = instruction.partition("_")
    if shell not in SCRIPTS or what not in ("complete", "source"):
        note(f"error: {ASKED}={instruction}: use complete or source, _, and bash, zsh or fish")
        return EXIT_USAGE
    if what == "source":
        emit(SCRIPTS[shell].rstrip("\n"))
        return EXIT_DONE
    found: list[tuple[str, str]] = []
    # Whatever is wrong, the line that is being typed stays as it is.
    with contextlib.suppress(Exception):
        found = _completed(command, os.environ[LINE])
    cut = _cut(os.environ[LINE], os.environ.get(BREAKS, "")) if shell == "bash" else 0
    for value, text in found:
        emit(_written(shell, value[cut:], " ".join(text.split())))
    return EXIT_DONE


def _completed(command: Any, line: str) -> list[tuple[str, str]]:
    """Give what the last word of a line may become, with what it means."""
    from typer._click.shell_completion import ShellComplete

    class Asked(ShellComplete):
        """The machinery of the parser; the words come from us."""

        def source_vars(self) -> dict[str, Any]:
            return {}

        def get_completion_args(self) -> tuple[list[str], str]:
            return _words(line)

        def format_completion(self, item: Any) -> str:
            return str(item.value)

    words, last = _words(line)
    option = last[: last.find("=") + 1] if last.startswith("--") else ""
    found = Asked(command, {"obj": words}, "ssdscope", ASKED).get_completions([*words], last)
    return [(option + str(each.value), each.help or "") for each in found]


def _words(line: str) -> tuple[list[str], str]:
    """Split a line into the words after the program, and the one that is being typed."""
    from typer._click.shell_completion import split_arg_string

    words = split_arg_string(line)[1:]
    if not words or line[-1:].isspace():
        return words, ""
    return words[:-1], words[-1]


def _cut(line: str, breaks: str) -> int:
    """Say how much of the last word bash keeps: up to the last character that breaks words.

    In a quote that is still open, none does.
    """
    try:
        shlex.split(line)
    except ValueError:
        return 0
    last = _words(line)[1]
    return max(
        (last.rfind(each) + 1 for each in breaks if each not in _QUOTES_AND_SPACE), default=0
    )


def _written(shell: str, value: str, text: str) -> str:
    """Write a value with what it means, as a shell takes it."""
    if shell == "bash":
        return value
    if shell == "fish":
        return f"{value}\t{text}" if text else value
    whole = "0" if value.endswith(_GO_ON) else "1"
    escaped = value.replace(":", r"\:")
    return f"{whole}{escaped}:{text}" if text else f"{whole}{escaped}"


def install_if(wanted: bool) -> None:
    """Install completion for the shell that this was typed in, and end."""
    if not wanted:
        return
    shell = current_shell()
    written = install(shell, Path.home())
    emit(f"completion for {shell}: {', '.join(map(str, written))}; it works in the next shell")
    raise typer.Exit(EXIT_DONE)


def show_if(wanted: bool) -> None:
    """Print the script for the shell that this was typed in, and end."""
    if wanted:
        emit(SCRIPTS[current_shell()].rstrip("\n"))
        raise typer.Exit(EXIT_DONE)


def install(shell: str, home: Path) -> list[Path]:
    """Write the script of a shell where it reads it, and give the files that were written."""
    if shell == "fish":
        return [_write(home / ".config/fish/completions/ssdscope.fish", SCRIPTS[shell])]
    if shell == "zsh":
        script = _write(home / ".zfunc/_ssdscope", SCRIPTS[shell])
        return [script, *_add(home / ".zshrc", "fpath+=~/.zfunc; autoload -Uz compinit; compinit")]
    script = _write(home / ".bash_completions/ssdscope.sh", SCRIPTS[shell])
    return [script, *_add(home / ".bashrc", f"source '{script}'")]


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _add(path: Path, line: str) -> list[Path]:
    """Append a line to a file of the user, once."""
    lines = path.read_text(encoding="utf-8") if path.exists() else ""
    if line in lines.splitlines():
        return []
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n" if lines.endswith("\n") or not lines else f"\n{line}\n")
    return [path]


def current_shell() -> str:
    """Find the shell that this process was started from.

    Raises
    ------
    UsageError
        If it is none that has a script.
    """
    for name in (*_ancestors(), Path(os.environ.get("SHELL", "")).name):
        if name in SCRIPTS:
            return name
    raise UsageError(
        "this was not started from bash, zsh or fish",
        hint=f"{ASKED}=source_bash ssdscope prints the script for bash; zsh and fish likewise",
    )


def _ancestors() -> list[str]:
    """Give the names of the processes that this one was started from, the nearest first."""
    names, process = [], os.getppid()
    with contextlib.suppress(OSError, ValueError):
        while process > 1:
            stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
            names.append(stat[stat.index("(") + 1 : stat.rindex(")")].lstrip("-"))
            process = int(stat[stat.rindex(")") + 1 :].split()[1])
    return names

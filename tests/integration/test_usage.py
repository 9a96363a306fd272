"""Command lines that cannot be meant: the nearest valid name, and where the list is."""

import pytest

RUN = ("run", "sim:mqsim-8g")
LISTS_RUN = "ssdscope run --help lists them"


@pytest.mark.parametrize(
    ("words", "wrong", "hint"),
    [
        (("rnu",), "there is no command 'rnu'", "did you mean run? ssdscope --help lists them"),
        (("drives", "sho"), "there is no command 'sho'", "did you mean show? ssdscope drives --h"),
        (("fit", "x"), "there is no command 'fit'", "did you mean ssdscope model fit? ssdscope"),
        (("help",), "there is no command 'help'", "ssdscope --help lists them"),
        (("run",), "ssdscope run: TARGET is missing", "as in ssdscope run sim:mqsim-8g"),
        (("trace", "windows", "x"), "ssdscope trace windows: --out is missing", "as in ssdscope"),
        ((*RUN, "--iodepht", "3"), "--iodepht: there is no such option", "did you mean --iodep"),
        ((*RUN, "--zzz"), "--zzz: there is no such option", LISTS_RUN),
        ((*RUN, "-x"), "-x: there is no such option", LISTS_RUN),
        ((*RUN, "--filename=x"), "--filename: there is no such", "fio's filename: the target is"),
        ((*RUN, "--write_bw_log=x"), "--write-bw-log: there is", "fio's write_bw_log: --log FILE"),
        ((*RUN, "--mode", "open"), "--mode: there is no such", "ssdscope replay takes it"),
        (("--rw", "read"), "--rw: there is no such option", "ssdscope run takes it"),
        ((*RUN, "--bs"), "--bs: its value is missing", "write --bs SIZE[,SIZE]; ssdscope run --h"),
        ((*RUN, "--fua=1"), "--fua: it takes no value", "write --fua alone"),
        ((*RUN, "more"), "more: one word too many", "ssdscope run takes TARGET; options begin"),
        (("doctor", "a", "more"), "more: one word too many", "ssdscope doctor takes TARGET"),
        ((*RUN, "-o", "jsn"), "--output-format: 'jsn' is not one of", "did you mean json? there"),
        ((*RUN, "--seed", "x"), "--seed: 'x' is not a whole number", "ssdscope run --help says"),
        (("replay", "null:", "x", "--limit", "0"), "--limit: 0 is less than 1", "ssdscope replay"),
        (("replay", "null:", "x", "--time-scale", "x"), "--time-scale: 'x' is not a number", "ssd"),
        ((*RUN, "--rw", "randrd"), "--rw: 'randrd' is not an access", "did you mean randread or "),
        ((*RUN, "--state", "stead"), "'stead' is not a state", "did you mean steady? there are"),
        ((*RUN, "--flow", "bss=4k"), "bss: there is no such option", "did you mean bs or bssplit?"),
        (("run", "sim:mqsm"), "there is no drive named 'mqsm'", "ssdscope drives list lists them"),
        (("reproduce", "huang"), "there is no study 'huang'", "did you mean huang2011? ssdscope"),
        (
            ("probe", "latncy", "null:"),
            "no probe, property or family",
            "did you mean latency? ssds",
        ),
        (("trace", "make", "finacial1"), "there is no profile", "did you mean financial1"),
        (("model", "fit", "x", "--model", "gide"), "there is no model", "did you mean guide"),
        (("model", "fit", "x", "--features", "basc"), "there is no set", "did you mean basic"),
        (("model", "fit", "x", "--target", "latncy"), "there is no target", "did you mean latency"),
        (
            ("model", "collect", "null:", "--design", "sbol"),
            "is not a design",
            "did you mean sobol",
        ),
    ],
)
def test_what_is_wrong_and_what_would_be_right(
    cli, words: tuple[str, ...], wrong: str, hint: str
) -> None:
    said = cli(*words)
    assert said.status == 2
    assert said.out == ""
    told, _, meant = said.err.partition("\n\nhint: ")
    assert wrong in told
    assert hint in meant


def test_without_words_there_is_help(cli) -> None:
    for words in ((), ("drives",), ("model",)):
        said = cli(*words)
        assert said.status == 2
        assert said.err.startswith(" ".join(("Usage: ssdscope", *words)))

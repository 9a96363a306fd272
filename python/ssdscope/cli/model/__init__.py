"""``ssdscope model``: models that predict what a drive does with a workload.

One file per command: `collect` runs workloads, `fit` makes a model of them, `predict` asks it,
`evaluate` says how good it and others are, `explain` what it has learnt.
"""

import typer

from ssdscope.cli.model import collect, evaluate, explain, fit, predict

app = typer.Typer(
    name="model",
    help="Collect runs, fit models to them, predict, evaluate, explain.",
    no_args_is_help=True,
)
for module in (collect, fit, predict, evaluate, explain):
    module.register(app)
EXAMPLES = "".join(each.EXAMPLES for each in (collect, fit, predict, evaluate, explain))

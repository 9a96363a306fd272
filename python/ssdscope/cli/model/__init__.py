"""``ssdscope model``: models that predict what a drive does with a workload.

One file per command: `collect` runs workloads, `fit` makes a model of them, `predict` asks it,
`evaluate` says how good it and others are, `explain` what it has learnt.
"""

from ssdscope.cli.help import group
from ssdscope.cli.model import collect, evaluate, explain, fit, predict

EXAMPLES = """
Run workloads on a drive, fit a model to them, and ask it:
  ssdscope model collect sim:huang-ssd-i --points 256 -O ssd-i.parquet
  ssdscope model fit ssd-i.parquet -O ssd-i.json
  ssdscope model predict ssd-i.json --wr-ratio 0.3 --q-dep 16
How good models of all kinds are:
  ssdscope model evaluate ssd-i.parquet
"""

app = group("model", EXAMPLES)
for module in (collect, fit, predict, evaluate, explain):
    module.register(app)

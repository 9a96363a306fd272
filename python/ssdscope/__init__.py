"""ssdscope looks inside a solid-state drive from the outside.

The package, from the bottom up; each line may import only what stands above it here:

`units`, `errors`
    How people write sizes and times, and the errors meant for them.
`targets`
    ``"sim:NAME"``, a drive file, ``/dev/...``, a file, ``raid0:...``  ->  a `Device`.
`workloads`, `results`, `sweep`
    What we do to a drive, what comes back, and many of them on all cores.
`stats`
    Pure functions on arrays.
`probes`, `models`
    What we learn about a drive, and what we predict of it. Neither imports the other.
`twin`, `advise`, `studies`, `report`
    A simulated double, advice, the papers reproduced, pages and pictures.
`cli`
    The command line, and the only place that prints.

Rust does the work below `targets` (`ssdscope._native`); Python never loops over single
requests. Importing this package is cheap: nothing heavy is loaded until it is used.
"""

__version__ = "0.1.0"

__all__ = ["__version__"]

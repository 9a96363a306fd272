"""Models that predict what a drive does with a workload from measured ones.

`features`
    The eight characteristics of huang2011 as columns of numbers.
`designs`, `collecting`, `table`
    Which workloads are run, running them, and the runs on disk.
`screening`
    Which runs a model learns from, and why it does not from others.
`registry`, `estimators`, `gaussian`, `service`, `knee`, `guide`
    The kinds of models, all in the manner of scikit-learn and kept as plain data; imported only
    when something is fitted, since scikit-learn takes seconds to load.
`samples`, `intervals`, `fitting`, `fitted`
    From runs to a model with an interval, and the model as a file.
`evaluation`, `interpolation`, `explaining`
    How good models are, beside a line between measured workloads, and what they have learnt.

A new model is a file with an estimator that passes ``check_estimator``, and a line in
`registry`. Models see a `Device` and measurements, never a drive's configuration.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ssdscope.models.estimators import (
        CartRegressor,
        LeastSquaresRegressor,
        LightgbmRegressor,
        LinearQuantileRegressor,
    )
    from ssdscope.models.fitted import FittedModel
    from ssdscope.models.gaussian import GaussianProcess
    from ssdscope.models.guide.estimators import (
        GuideBagging,
        GuideQuantileRegressor,
        GuideRegressor,
    )
    from ssdscope.models.guide.model import GuideModel
    from ssdscope.models.lasso import LassoRegressor
    from ssdscope.models.service import ServiceRegressor

__all__ = [
    "CartRegressor",
    "FittedModel",
    "GaussianProcess",
    "GuideBagging",
    "GuideModel",
    "GuideQuantileRegressor",
    "GuideRegressor",
    "LassoRegressor",
    "LeastSquaresRegressor",
    "LightgbmRegressor",
    "LinearQuantileRegressor",
    "ServiceRegressor",
]

_MODULES = {
    "CartRegressor": "estimators",
    "FittedModel": "fitted",
    "GaussianProcess": "gaussian",
    "GuideBagging": "guide.estimators",
    "GuideModel": "guide.model",
    "GuideQuantileRegressor": "guide.estimators",
    "GuideRegressor": "guide.estimators",
    "LassoRegressor": "lasso",
    "LeastSquaresRegressor": "estimators",
    "LightgbmRegressor": "estimators",
    "LinearQuantileRegressor": "estimators",
    "ServiceRegressor": "service",
}


def __getattr__(name: str) -> Any:
    """Load a model when it is first used: scikit-learn takes seconds."""
    if name not in _MODULES:
        raise AttributeError(f"module 'ssdscope.models' has no attribute {name!r}")
    return getattr(import_module(f"ssdscope.models.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    """List what can be used."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})

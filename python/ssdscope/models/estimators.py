"""The other estimators beside GUIDE: constants in trees, boosted trees, lines.

Each fits with the library that does it best and keeps the result as a `GuideModel`, trees as
plain data, through which it predicts. So a model that was saved predicts what the estimator did,
and none of these libraries is needed to use it.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ssdscope.errors import UsageError
from ssdscope.models.guide.model import GuideModel
from ssdscope.models.guide.tree import LEAF, Tree
from ssdscope.models.scaling import deviations

Array = npt.NDArray[Any]
MARGIN = 0.1
"""How far a line may leave the range of targets it was fitted on, as part of that range."""


class Portable(RegressorMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """What these estimators share: checking, the logarithm, the model as plain data."""

    log_target: bool
    random_state: Any

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Fit on finite ``X`` of shape (n, features) and ``y`` of shape (n,).

        Raises
        ------
        ValueError
            If an input is not as described, or ``y`` has no logarithm where one is wanted.
        """
        points, target = validate_data(self, X, y, y_numeric=True, dtype=np.float64)
        if self.log_target and not (target > 0).all():
            raise ValueError(
                f"log_target needs a positive y, and its least value is {target.min():.6g}"
            )
        values = np.log(target) if self.log_target else target.astype(float)
        names = getattr(self, "feature_names_in_", None)
        self.model_ = GuideModel(
            trees=tuple(self._trees(points, values)),
            features=tuple(names if names is not None else (f"x{i}" for i in range(len(points.T)))),
            low=points.min(axis=0),
            high=points.max(axis=0),
            rows=len(points),
            log_target=bool(self.log_target),
            quantile=self._quantile(),
            additive=True,
        )
        return self

    def predict(self, X: Any) -> Array:  # noqa: N803
        """Predict for ``X`` of shape (n, features)."""
        check_is_fitted(self)
        return self.model_.evaluate(validate_data(self, X, reset=False, dtype=np.float64))

    @abstractmethod
    def _trees(self, points: Array, values: Array) -> list[Tree]:
        """Fit, and give the trees whose sum predicts."""

    def _quantile(self) -> float | None:
        return None


class CartRegressor(Portable):
    """Regression tree with a constant in each leaf (Breiman et al. 1984), by scikit-learn.

    Parameters
    ----------
    min_samples_leaf : int, default=2
        Rows a leaf has at least.
    max_leaf_nodes : int or None, default=None
        Leaves at most, the best cuts first.
    log_target : bool, default=False
        Fit the logarithm of a positive target, and predict its exponential.
    random_state : int, RandomState or None, default=None
        Chooses between cuts that are as good.

    Attributes
    ----------
    model_ : GuideModel
        The fitted tree as plain data.
    n_features_in_ : int
        Columns seen by `fit`.
    """

    def __init__(
        self,
        min_samples_leaf: int = 2,
        max_leaf_nodes: int | None = None,
        log_target: bool = False,
        random_state: Any = None,
    ) -> None:
        self.min_samples_leaf = min_samples_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.log_target = log_target
        self.random_state = random_state

    def _trees(self, points: Array, values: Array) -> list[Tree]:
        from sklearn.tree import DecisionTreeRegressor

        fitted = DecisionTreeRegressor(
            min_samples_leaf=self.min_samples_leaf,
            max_leaf_nodes=self.max_leaf_nodes,
            random_state=self.random_state,
        )
        grown = fitted.fit(points, values).tree_
        leaf = grown.children_left == LEAF
        here = np.arange(grown.node_count)
        value = grown.value[:, 0, 0]
        return [
            Tree(
                feature=np.where(leaf, LEAF, grown.feature),
                threshold=np.where(leaf, 0.0, grown.threshold),
                left=np.where(leaf, here, grown.children_left),
                right=np.where(leaf, here, grown.children_right),
                intercept=value,
                coefficients=np.zeros((grown.node_count, points.shape[1])),
                low=value,
                high=value,
                mean=value,
                rows=grown.n_node_samples.astype(int),
                loss=grown.impurity * grown.n_node_samples,
            )
        ]


class LightgbmRegressor(Portable):
    """Gradient-boosted trees by LightGBM (Ke et al. 2017), with lines in their leaves.

    Parameters
    ----------
    n_estimators : int, default=400
        Number of trees.
    learning_rate : float, default=0.05
        How much of each tree is added.
    num_leaves : int, default=15
        Leaves of a tree at most.
    min_samples_leaf : int, default=8
        Rows a leaf has at least.
    linear : bool, default=True
        Linear models in the leaves, of the features that lead there; constants otherwise.
    log_target : bool, default=False
        Fit the logarithm of a positive target, and predict its exponential.
    random_state : int, RandomState or None, default=None
        Of the library's own draws.

    Attributes
    ----------
    model_ : GuideModel
        The fitted trees as plain data.
    n_features_in_ : int
        Columns seen by `fit`.
    """

    def __init__(
        self,
        n_estimators: int = 400,
        learning_rate: float = 0.05,
        num_leaves: int = 15,
        min_samples_leaf: int = 8,
        linear: bool = True,
        log_target: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.min_samples_leaf = min_samples_leaf
        self.linear = linear
        self.log_target = log_target
        self.random_state = random_state

    def _trees(self, points: Array, values: Array) -> list[Tree]:
        library = lightgbm()
        options = {
            "objective": "regression",
            "learning_rate": self.learning_rate,
            "num_leaves": self.num_leaves,
            "min_data_in_leaf": self.min_samples_leaf,
            "linear_tree": self.linear,
            "linear_lambda": 0.01,
            "deterministic": True,
            "num_threads": 1,
            "verbosity": -1,
            "seed": check_random_state(self.random_state).randint(2**31 - 1),
        }
        rows = library.Dataset(points, values, params={"verbosity": -1, "linear_tree": self.linear})
        fitted = library.train(options, rows, num_boost_round=self.n_estimators)
        nodes = fitted.dump_model()["tree_info"]
        return [_boosted(each["tree_structure"], points.shape[1]) for each in nodes]


def lightgbm() -> Any:
    """Import LightGBM.

    Raises
    ------
    UsageError
        If it is not there, or lacks the system's OpenMP.
    """
    try:
        import lightgbm as library
    except ImportError as error:
        raise UsageError("LightGBM is not installed", hint="pip install lightgbm") from error
    except OSError as error:
        raise UsageError(
            f"LightGBM cannot be loaded: {error}", hint="on Debian and Ubuntu, install libgomp1"
        ) from error
    return library


def _boosted(root: dict[str, Any], features: int) -> Tree:
    """Turn a tree as LightGBM tells it into arrays; a leaf's own model is held to nothing."""
    order = list(_preorder(root))
    number = {id(node): index for index, node in enumerate(order)}
    count = len(order)
    tree = Tree(
        feature=np.array([node.get("split_feature", LEAF) for node in order], dtype=int),
        threshold=np.array([node.get("threshold", 0.0) for node in order], dtype=float),
        left=np.array([number[id(node.get("left_child", node))] for node in order], dtype=int),
        right=np.array([number[id(node.get("right_child", node))] for node in order], dtype=int),
        intercept=np.array([_constant(node) for node in order], dtype=float),
        coefficients=np.zeros((count, features)),
        low=np.full(count, -UNBOUNDED),
        high=np.full(count, UNBOUNDED),
        mean=np.array([node.get("leaf_value", node.get("internal_value", 0.0)) for node in order]),
        rows=np.array([node.get("leaf_count", node.get("internal_count", 0)) for node in order]),
        loss=np.zeros(count),
    )
    for index, node in enumerate(order):
        for feature, slope in zip(
            node.get("leaf_features", ()), node.get("leaf_coeff", ()), strict=True
        ):
            tree.coefficients[index, feature] = slope
    return tree


UNBOUNDED = 1e300
"""Where a leaf is held to nothing."""


def _constant(node: dict[str, Any]) -> float:
    if "split_feature" in node:
        return 0.0
    return float(node.get("leaf_const", node["leaf_value"]))


def _preorder(root: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Give parents before their children, as a `Tree` has them."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        if "split_feature" in node:
            waiting += [node["right_child"], node["left_child"]]


class Line(Portable):
    """A linear model of all features: a tree that is one leaf."""

    def _trees(self, points: Array, values: Array) -> list[Tree]:
        center, scale = points.mean(axis=0), deviations(points)
        slopes, start = self._line((points - center) / scale, values)
        slopes = slopes / scale
        reach = MARGIN * (values.max() - values.min())
        return [
            Tree(
                feature=np.array([LEAF]),
                threshold=np.zeros(1),
                left=np.zeros(1, dtype=int),
                right=np.zeros(1, dtype=int),
                intercept=np.array([start - slopes @ center]),
                coefficients=slopes[None, :],
                low=np.array([values.min() - reach]),
                high=np.array([values.max() + reach]),
                mean=np.array([values.mean()]),
                rows=np.array([len(values)]),
                loss=np.array([values.var() * len(values)]),
            )
        ]

    @abstractmethod
    def _line(self, points: Array, values: Array) -> tuple[Array, float]:
        """Fit slopes and an intercept to standardised columns."""


class LeastSquaresRegressor(Line):
    """Ordinary least squares, its predictions held near the targets it has seen.

    Parameters
    ----------
    log_target : bool, default=False
        Fit the logarithm of a positive target, and predict its exponential.

    Attributes
    ----------
    model_ : GuideModel
        The line as plain data.
    n_features_in_ : int
        Columns seen by `fit`.
    """

    def __init__(self, log_target: bool = False) -> None:
        self.log_target = log_target

    def _line(self, points: Array, values: Array) -> tuple[Array, float]:
        slopes = np.linalg.lstsq(points, values - values.mean(), rcond=None)[0]
        return slopes, float(values.mean())


class LinearQuantileRegressor(Line):
    """Linear quantile regression (Koenker and Bassett 1978), as huang2011 compared with.

    Parameters
    ----------
    quantile : float, default=0.5
        Which quantile is predicted.
    log_target : bool, default=False
        Fit the logarithm of a positive target, and predict its exponential.

    Attributes
    ----------
    model_ : GuideModel
        The line as plain data.
    n_features_in_ : int
        Columns seen by `fit`.
    """

    def __init__(self, quantile: float = 0.5, log_target: bool = False) -> None:
        self.quantile = quantile
        self.log_target = log_target

    def _line(self, points: Array, values: Array) -> tuple[Array, float]:
        from sklearn.linear_model import QuantileRegressor

        fitted = QuantileRegressor(quantile=self.quantile, alpha=0, solver="highs")
        fitted.fit(points, values)
        return fitted.coef_, float(fitted.intercept_)

    def _quantile(self) -> float | None:
        return float(self.quantile)

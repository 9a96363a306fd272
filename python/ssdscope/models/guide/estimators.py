"""The trees as scikit-learn estimators: one tree, many bagged ones, and one for a quantile."""

from abc import ABC, abstractmethod
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ssdscope.models.guide.check_loss import CheckLoss
from ssdscope.models.guide.growing import Grower, Limits, NodeModel, Scaling
from ssdscope.models.guide.least_squares import RIDGE, LeastSquares
from ssdscope.models.guide.model import GuideModel
from ssdscope.models.guide.pruning import prune
from ssdscope.models.guide.tree import Tree

Array = npt.NDArray[Any]


class _Guide(RegressorMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """What the estimators share: checking, scaling, the logarithm, predicting."""

    min_samples_leaf: int
    max_depth: int | None
    margin: float
    log_target: bool
    random_state: Any

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Fit the model.

        Parameters
        ----------
        X : array-like, shape (n, features)
            Finite numbers.
        y : array-like, shape (n,)
            Finite numbers; positive ones where ``log_target`` is set.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If an input or a parameter is not as described.
        """
        points, target = validate_data(self, X, y, y_numeric=True, dtype=np.float64)
        self._check_parameters()
        if self.log_target and not (target > 0).all():
            raise ValueError(
                f"log_target needs a positive y, and its least value is {target.min():.6g}"
            )
        values = np.log(target) if self.log_target else target.astype(float)
        scaling = Scaling.of(points, values)
        # A leaf with as few rows as its model has coefficients would fit anything.
        limits = Limits(
            max(int(self.min_samples_leaf), points.shape[1] + 2), self.max_depth, self.margin
        )
        random = check_random_state(self.random_state)
        table = scaling.table(points, values)
        grower = Grower(points, table, self._node_model(), limits, random)
        trees = self._trees(grower, random)
        names = getattr(self, "feature_names_in_", None)
        self.model_ = GuideModel(
            trees=tuple(scaling.undo(tree) for tree in trees),
            features=tuple(names if names is not None else (f"x{i}" for i in range(len(points.T)))),
            low=points.min(axis=0),
            high=points.max(axis=0),
            rows=len(points),
            log_target=bool(self.log_target),
            quantile=self._quantile(),
        )
        return self

    def predict(self, X: Any) -> Array:  # noqa: N803
        """Predict for ``X`` of shape (n, features); an `OutOfRangeWarning` tells what is new."""
        check_is_fitted(self)
        return self.model_.predict(validate_data(self, X, reset=False, dtype=np.float64))

    def _node_model(self) -> NodeModel:
        return LeastSquares()

    def _quantile(self) -> float | None:
        return None

    @abstractmethod
    def _trees(self, grower: Grower, random: Any) -> list[Tree]:
        """Grow the trees whose mean predicts."""

    def _check_parameters(self) -> None:
        _check("min_samples_leaf", self.min_samples_leaf, Integral, 1)
        _check("margin", self.margin, Real, 0)
        if self.max_depth is not None:
            _check("max_depth", self.max_depth, Integral, 0)


class _SingleTree(_Guide):
    """One tree, pruned by cross-validation."""

    cv: int
    se_rule: float
    repeats_together: bool = True

    def _trees(self, grower: Grower, random: Any) -> list[Tree]:
        n = len(grower.points)
        tree = grower.grow(np.arange(n))
        if self.cv == 0 or tree.leaves == 1:
            return [tree]
        kind = np.arange(n)
        if self.repeats_together:
            _, kind = np.unique(grower.points, axis=0, return_inverse=True)
        kinds = int(kind.max()) + 1
        folds = random.permutation(kinds)[kind.reshape(-1)] % min(self.cv, kinds)
        return [prune(grower, tree, folds, self.se_rule)]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _check("cv", self.cv, Integral, 0)
        _check("se_rule", self.se_rule, Real, 0)
        if self.cv == 1:
            raise ValueError("cv must be 0 (no pruning) or at least 2, got 1")


class GuideRegressor(_SingleTree):
    """Regression tree with a linear model in each leaf, in the manner of GUIDE.

    In each node a multiple linear model is fitted. Tests on the signs of its residuals choose
    the variable that splits the node, and only then its best cut is searched; so a variable is
    not preferred for offering many cuts. The grown tree is pruned by cross-validation.
    Predictions are held to the range of targets seen in the leaf, widened by `margin`.

    Parameters
    ----------
    min_samples_leaf : int, default=20
        Rows a leaf has at least, and never fewer than features + 2.
    max_depth : int or None, default=None
        Splits from the root to a leaf at most.
    cv : int, default=10
        Folds of the cross-validation that prunes; 0 for a tree that is not pruned.
    se_rule : float, default=0.25
        The smallest tree is taken whose loss is within so many standard errors of the least.
    repeats_together : bool, default=True
        Whether rows with equal features share a fold, so that repeated runs are not held to
        themselves. Folds of single rows, as in Loh's program, keep more of a tree where there are
        few workloads, each run often; how that does on others is another question.
    margin : float, default=0.1
        How far predictions may leave the range of the leaf, as part of that range.
    ridge : float, default=1e-9
        Added per row to the squares of standardised columns, in nodes and in the search for cuts.
        The default decides only where the data do not; more holds slopes of small leaves back.
    log_target : bool, default=False
        Fit the logarithm of a positive target, and predict its exponential.
    random_state : int, RandomState or None, default=None
        Draws the folds, and what the tests are calibrated with.

    Attributes
    ----------
    model_ : GuideModel
        The fitted tree as plain data: ``model_.save(path)`` keeps it.
    n_features_in_ : int
        Columns seen by `fit`.

    References
    ----------
    W.-Y. Loh, Regression trees with unbiased variable selection and interaction detection,
    Statistica Sinica 12 (2002) 361-386.
    """

    def __init__(
        self,
        min_samples_leaf: int = 20,
        max_depth: int | None = None,
        cv: int = 10,
        se_rule: float = 0.25,
        repeats_together: bool = True,
        margin: float = 0.1,
        ridge: float = RIDGE,
        log_target: bool = False,
        random_state: Any = None,
    ) -> None:
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.cv = cv
        self.se_rule = se_rule
        self.repeats_together = repeats_together
        self.margin = margin
        self.ridge = ridge
        self.log_target = log_target
        self.random_state = random_state

    def _node_model(self) -> NodeModel:
        return LeastSquares(float(self.ridge))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _check("ridge", self.ridge, Real, 0)


class GuideQuantileRegressor(_SingleTree):
    """Regression tree whose leaves are linear models of a quantile.

    As `GuideRegressor`, with the check loss in place of squares: in the nodes, in the search for
    cuts, and in the cross-validation. Trees of different quantiles are fitted apart; where they
    cross, sort their predictions.

    Parameters
    ----------
    quantile : float, default=0.5
        Which quantile is predicted, between 0 and 1, both excluded.
    min_samples_leaf : int, default=20
        Rows a leaf has at least, and never fewer than features + 2.
    max_depth : int or None, default=None
        Splits from the root to a leaf at most.
    cv : int, default=5
        Folds of the cross-validation that prunes; 0 for a tree that is not pruned.
    se_rule : float, default=0.25
        The smallest tree is taken whose loss is within so many standard errors of the least.
    margin : float, default=0.1
        How far predictions may leave the range of the leaf, as part of that range.
    log_target : bool, default=False
        Fit the logarithm of a positive target, and predict its exponential; quantiles survive
        that exactly.
    random_state : int, RandomState or None, default=None
        Draws the folds.

    Attributes
    ----------
    model_ : GuideModel
        The fitted tree as plain data: ``model_.save(path)`` keeps it.
    n_features_in_ : int
        Columns seen by `fit`.

    References
    ----------
    P. Chaudhuri and W.-Y. Loh, Nonparametric estimation of conditional quantiles using quantile
    regression trees, Bernoulli 8 (2002) 561-576.
    """

    def __init__(
        self,
        quantile: float = 0.5,
        min_samples_leaf: int = 20,
        max_depth: int | None = None,
        cv: int = 5,
        se_rule: float = 0.25,
        margin: float = 0.1,
        log_target: bool = False,
        random_state: Any = None,
    ) -> None:
        self.quantile = quantile
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.cv = cv
        self.se_rule = se_rule
        self.margin = margin
        self.log_target = log_target
        self.random_state = random_state

    def _node_model(self) -> NodeModel:
        return CheckLoss(float(self.quantile))

    def _quantile(self) -> float | None:
        return float(self.quantile)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not 0 < self.quantile < 1:
            raise ValueError(f"quantile must be between 0 and 1, got {self.quantile}")


class GuideBagging(_Guide):
    """Mean of unpruned `GuideRegressor` trees, each grown on rows drawn with replacement.

    Parameters
    ----------
    n_estimators : int, default=10
        Number of trees.
    min_samples_leaf : int, default=20
        Rows a leaf has at least, and never fewer than features + 2.
    max_depth : int or None, default=None
        Splits from the root to a leaf at most.
    margin : float, default=0.1
        How far a tree's predictions may leave the range of its leaf, as part of that range.
    log_target : bool, default=False
        Fit the logarithm of a positive target, and predict the exponential of the trees' mean.
    random_state : int, RandomState or None, default=None
        Draws the rows, and what the tests are calibrated with.

    Attributes
    ----------
    model_ : GuideModel
        The fitted trees as plain data: ``model_.save(path)`` keeps them.
    n_features_in_ : int
        Columns seen by `fit`.

    References
    ----------
    L. Breiman, Bagging predictors, Machine Learning 24 (1996) 123-140.
    """

    def __init__(
        self,
        n_estimators: int = 10,
        min_samples_leaf: int = 20,
        max_depth: int | None = None,
        margin: float = 0.1,
        log_target: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.margin = margin
        self.log_target = log_target
        self.random_state = random_state

    def _trees(self, grower: Grower, random: Any) -> list[Tree]:
        n = len(grower.points)
        return [grower.grow(random.randint(0, n, n)) for _ in range(self.n_estimators)]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _check("n_estimators", self.n_estimators, Integral, 1)


def _check(name: str, value: Any, kind: type[Any], least: float) -> None:
    fits = isinstance(value, kind) and not isinstance(value, bool)
    if not fits or not value >= least:
        what = "a whole number" if kind is Integral else "a number"
        raise ValueError(f"{name} must be {what} of at least {least}, got {value!r}")

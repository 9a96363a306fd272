"""Regression trees with linear leaves, in the manner of GUIDE (Loh 2002).

Reading order:

* :mod:`.selection`      which variable splits a node: curvature and interaction tests
* :mod:`.least_squares`  linear models of nodes, and what a cut leaves of the squares
* :mod:`.check_loss`     the same for a quantile
* :mod:`.growing`        fit, test, cut, go on
* :mod:`.pruning`        back to the smallest tree that predicts unseen rows as well
* :mod:`.tree`           what comes out, as arrays
* :mod:`.model`          trees with names and ranges: predicts, saves, loads
* :mod:`.words`          a tree as text
* :mod:`.estimators`     all of it as scikit-learn has it

Import `model` and `words` by themselves to use saved models: only `estimators` needs
scikit-learn, which takes seconds to load.
"""

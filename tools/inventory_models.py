"""One small model of every estimator that is installed, for `tools/inventory.py` to fit."""

import contextlib
import inspect


def models():
    """Yield every estimator, alone, with the inner models that it takes, and composed."""
    from sklearn.utils import all_estimators

    with contextlib.suppress(ImportError):
        from sklearn.experimental import (  # noqa: F401
            enable_halving_search_cv,
            enable_hist_gradient_boosting,
            enable_iterative_imputer,
        )
    for _, cls in all_estimators():
        yield from _with(cls)
    yield from _composed()
    with contextlib.suppress(ImportError):
        from imblearn.utils.testing import all_estimators as all_samplers

        for _, cls in all_samplers():
            yield from _with(cls)
    with contextlib.suppress(ImportError):
        from imblearn.over_sampling import SMOTE, RandomOverSampler
        from imblearn.pipeline import make_pipeline as resampled
        from sklearn.tree import DecisionTreeClassifier

        yield resampled(RandomOverSampler(), DecisionTreeClassifier())
        yield resampled(SMOTE(), DecisionTreeClassifier())
    with contextlib.suppress(ImportError):
        import treeaudit.trainers as private

        for name in private.__all__:
            with contextlib.suppress(TypeError):
                yield getattr(private, name)(epsilon=1.0, schema="from-data")
    with contextlib.suppress(ImportError):
        import xgboost as xgb

        for cls in (xgb.XGBClassifier, xgb.XGBRegressor, xgb.XGBRFClassifier, xgb.XGBRFRegressor):
            yield cls(n_estimators=3)
    with contextlib.suppress(ImportError):
        import lightgbm as lgb

        for cls in (lgb.LGBMClassifier, lgb.LGBMRegressor):
            yield cls(n_estimators=3, verbose=-1)


def _with(cls):
    """Yield an estimator with each inner model that it takes, small ones where it can be."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    params = inspect.signature(cls.__init__).parameters
    small = {"n_estimators": 3, "max_iter": 20, "n_components": 2, "cv": 2, "n_quantiles": 50}
    given = {name: value for name, value in small.items() if name in params}
    inner = next((n for n in ("estimator", "base_estimator", "regressor") if n in params), None)
    lists = next((n for n in ("estimators", "transformer_list", "steps") if n in params), None)
    for tree in (DecisionTreeClassifier, DecisionTreeRegressor, LogisticRegression):
        more = {}
        if inner:
            more[inner] = tree(max_depth=3) if tree is not LogisticRegression else tree()
        if lists:
            more[lists] = [("a", tree()), ("b", tree())]
        if "param_grid" in params:
            more["param_grid"] = {"max_depth": [2, 3]}
        if "param_distributions" in params:
            more |= {"param_distributions": {"max_depth": [2, 3]}}
            if "n_iter" in params:
                more["n_iter"] = 2
        for extra in ({}, {"oob_score": True}, {"early_stopping": True}):
            if set(extra) <= set(params):
                with contextlib.suppress(Exception):
                    yield cls(**(given | more | extra))
        if not inner and not lists:
            return


def _composed():
    from scipy.stats import randint, uniform
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import (
        GradientBoostingClassifier,
        GradientBoostingRegressor,
        HistGradientBoostingClassifier,
        HistGradientBoostingRegressor,
        RandomForestClassifier,
    )
    from sklearn.feature_selection import SelectFromModel, SelectKBest
    from sklearn.impute import SimpleImputer
    from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
    from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
    from sklearn.preprocessing import (
        FunctionTransformer,
        KBinsDiscretizer,
        OneHotEncoder,
        OrdinalEncoder,
        QuantileTransformer,
        StandardScaler,
    )
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    for tree in (DecisionTreeClassifier(max_depth=3), DecisionTreeRegressor(max_depth=3)):
        yield GridSearchCV(tree, {"max_depth": [2, 3]}, cv=2, scoring="r2", return_train_score=True)
        spread = {"max_depth": randint(2, 5), "ccp_alpha": uniform(0, 0.1)}
        yield RandomizedSearchCV(tree, spread, n_iter=3, cv=2)
        yield GridSearchCV(tree, [{"max_depth": [2], "criterion": ["gini", "squared_error"]}], cv=2)
        for step in (
            StandardScaler(), SimpleImputer(add_indicator=True), KBinsDiscretizer(3),
            QuantileTransformer(n_quantiles=20), OneHotEncoder(handle_unknown="ignore"),
            OrdinalEncoder(), SelectKBest(k=2), SelectFromModel(DecisionTreeClassifier()),
            FunctionTransformer(), FunctionTransformer(validate=True),
            FeatureUnion([("a", StandardScaler()), ("b", SelectKBest(k=2))]),
        ):  # fmt: skip
            yield make_pipeline(step, tree)
            for rest in ("drop", "passthrough", StandardScaler()):
                columns = ColumnTransformer(
                    [("s", step, [0, 1]), ("p", "passthrough", [2])], remainder=rest
                )
                yield Pipeline([("c", columns), ("t", tree)])
            yield make_pipeline(ColumnTransformer([("s", step, ["age", "pay"])]), tree)
        for part in (slice(0, 2), [True, False, True, True, False]):
            yield make_pipeline(ColumnTransformer([("s", StandardScaler(), part)]), tree)
    for member in (RandomForestClassifier(3), GradientBoostingClassifier(n_estimators=3)):
        for method in ("sigmoid", "isotonic"):
            yield CalibratedClassifierCV(member, method=method, cv=2)
        yield member.set_params(warm_start=True)
    yield RandomForestClassifier(3, class_weight="balanced", max_samples=0.5)
    yield GradientBoostingClassifier(
        n_estimators=9, n_iter_no_change=1, init=RandomForestClassifier(3)
    )
    yield GradientBoostingClassifier(n_estimators=3, subsample=0.5)
    several = ["accuracy", "f1_macro"]
    shallow = {"max_depth": [2]}
    yield GridSearchCV(DecisionTreeClassifier(), shallow, scoring=several, cv=2, refit="accuracy")
    for more in ({"drop": "first"}, {"min_frequency": 3}, {"max_categories": 3}):
        with contextlib.suppress(TypeError):
            yield make_pipeline(OneHotEncoder(**more), DecisionTreeClassifier())
            yield make_pipeline(OrdinalEncoder(**more), DecisionTreeClassifier())
    for loss in (
        "huber",
        "quantile",
        "absolute_error",
        "lad",
        "exponential",
        "squared_error",
        "ls",
    ):
        yield GradientBoostingRegressor(n_estimators=3, loss=loss)
        yield GradientBoostingClassifier(n_estimators=3, loss=loss)
    for loss in ("poisson", "gamma", "quantile", "absolute_error", "least_squares"):
        with contextlib.suppress(TypeError):
            yield HistGradientBoostingRegressor(
                max_iter=3, loss=loss, **({"quantile": 0.5} if loss == "quantile" else {})
            )
    for more in ({"categorical_features": [3]}, {"scoring": "loss", "early_stopping": True},
                 {"monotonic_cst": [1, 0, 0, 0, 0]}):  # fmt: skip
        with contextlib.suppress(TypeError):
            yield HistGradientBoostingClassifier(max_iter=3, **more)

"""What every form of a comparison says of its models: cells, claims, which one to take."""

from typing import TYPE_CHECKING, Literal

from treeaudit.comparison.compare import Choice, ComparedModel, Comparison, common_measures
from treeaudit.comparison.measures import MEASURES
from treeaudit.findings.findings import Check
from treeaudit.model.words import in_percent
from treeaudit.reports.plain_text import plain
from treeaudit.stats import Estimate

if TYPE_CHECKING:
    pass


def cells(comparison: Comparison, column: str) -> list[str]:
    """Return one column of the comparison as texts; a dash where nothing is known."""
    return [_cell(model, column) for model in comparison.models]


def _cell(model: ComparedModel, column: str) -> str:
    useful, leaks = model.useful, model.leakage
    values: dict[str, str | None] = {
        "leaves": f"{model.report.table.n_leaves:,}",
        "smallest": _smallest(model),
        "alone": " ".join(claimed(model, "alone")).strip(),
        "certain": " ".join(claimed(model, "certain")).strip(),
        "member AUC": None if leaks.auc is None else f"{leaks.auc.value:.3f}",
        "hidden": None if leaks.attribute is None else _points(leaks.attribute),
        "certified": None if leaks.certified is None else in_percent(leaks.certified.value),
        "useful": None if useful is None else goodness(model, useful.value),
        "epsilon": None if model.epsilon is None else in_letters(model).removeprefix("ε "),
    }
    return values[column] or "–"


def in_letters(model: ComparedModel) -> str:
    """Return the epsilon of a model, and its delta where there is one; empty without."""
    if model.epsilon is None:
        return ""
    return f"ε {model.epsilon:g}" + (f", δ {model.delta:g}" if model.delta else "")


def _smallest(model: ComparedModel) -> str | None:
    if model.claims.smallest is None:
        return None
    return "noise" if model.epsilon is not None else f"{model.claims.smallest:,}"


def _points(share: Estimate) -> str:
    return f"{100 * share.value:+.1f}"


def interval(model: ComparedModel, column: str) -> str:
    """Return the 95 % interval of a measured number; nothing where there is none."""
    leaks, useful = model.leakage, model.useful
    if column == "member AUC" and leaks.auc is not None:
        return f"{leaks.auc.low:.3f}–{leaks.auc.high:.3f}"
    if column == "hidden" and leaks.attribute is not None:
        return f"{100 * leaks.attribute.low:+.1f} to {100 * leaks.attribute.high:+.1f}"
    if column == "useful" and useful is not None:
        return f"{goodness(model, useful.low)}–{goodness(model, useful.high)}"
    return ""


def within(model: ComparedModel, column: str) -> str:
    """Return the same in few letters, for the terminal: the larger half of the interval."""
    leaks, scale, digits = model.leakage, 1.0, 3
    found = {"member AUC": leaks.auc, "hidden": leaks.attribute, "useful": model.useful}.get(column)
    if found is None:
        return ""
    if column == "hidden" or (column == "useful" and model.utility is not None):
        scale, digits = 100.0, 1
    return f"±{scale * max(found.high - found.value, found.value - found.low):.{digits}f}"


def goodness(model: ComparedModel, value: float) -> str:
    """Return accuracy in percent, and R² as it is."""
    return f"{value:.3f}" if model.utility is None else in_percent(value, 2)


def verdict(model: ComparedModel) -> tuple[str, str]:
    """Return the verdict on a model in one word, and by what where it is not the policy."""
    if not model.report.checks:
        return "observed", ""
    return model.verdict, "by policy private" if model.ledger else ""


def judged(model: ComparedModel) -> tuple[Check, ...]:
    """Return the checks that the verdict on a model rests on."""
    return model.ledger or model.report.checks


def claimed(model: ComparedModel, what: Literal["alone", "certain"]) -> tuple[str, str]:
    """Return a claim, and what of it is true or to be expected to be, in words."""
    claims = model.claims
    if not claims.told:
        return "", ""
    if model.epsilon is not None:
        return "noise", ""
    number: int = getattr(claims, what)
    true: int | None = getattr(claims, f"{what}_true")
    expected: float | None = getattr(claims, f"{what}_expected")
    if true is not None and true > number:
        return f"{number:,}", f"({true:,} in truth)"
    if true is not None and true != number:
        return f"{number:,}", f"({true:,} true)"
    if true is None and expected is not None and number:
        return f"{number:,}", f"({expected:,.1f} expected true)"
    return f"{number:,}", ""


def advice(comparison: Comparison) -> list[str]:
    """Return which model to take, and in further sentences what that weighs."""
    choice, name = comparison.choice, plain(comparison.policy.title, 200)
    if not comparison.policy.values:
        return [f"Policy {name} makes no checks: choose by what the columns say."]
    if choice is None:
        n = len(comparison.models)
        text = f"{'No model' if n == 1 else f'None of the {n} models'} passes policy {name}"
        if half := [_called(one) for one in comparison.models if one.verdict == "review"]:
            text += f"; {', '.join(half)} failed nothing, but some checks need --train and --test"
        return [f"{text}: repair one with treeaudit defend, or train with differential privacy."]
    if choice.best.useful is None:
        passing = [one for one in comparison.models if one.verdict == "pass"]
        by: dict[str, list[ComparedModel]] = {name: [], "private": []}
        for one in passing:
            by[_policy_of(comparison, one)].append(one)
        return [
            f"Passing policy {policy}: {', '.join(map(_called, models))}."
            for policy, models in by.items()
            if models
        ]
    return [
        _take(comparison, choice, name),
        *_alternatives(comparison, choice),
        _weighed(comparison),
    ]


def _take(comparison: Comparison, choice: Choice, policy: str) -> str:
    best, top = choice.best, choice.top
    text = f"Take {_called(best)}: "
    if best is top:
        reached = [m.useful.value for m in comparison.models if m.verdict == "pass" and m.useful]
        most = "as accurate as any" if reached.count(max(reached)) > 1 else "the most accurate"
        text += f"{most} of those that pass policy {policy}"
        return text + (
            " or are bounded by their epsilon, by their own ledgers." if best.ledger else "."
        )
    less = "gives away less of what was measured"
    if best.epsilon is not None and top.epsilon is None:
        bound = f"is bounded by {best.report.bound}"
        less = f"by its own ledger, whatever it gives away of anybody {bound}"
    return f"{text}it cannot be told from {_called(top)} in accuracy, and {less}."


def _alternatives(comparison: Comparison, choice: Choice) -> list[str]:
    """Return what speaks for models that are not taken."""
    said = []
    for one in choice.better:
        why = "fails" if one.verdict == "fail" else "was not fully checked by"
        said.append(
            f"{_called(one)} is no less accurate and gave away no more of what was measured, but "
            f"{why} policy {_policy_of(comparison, one)}."
        )
    measured = [one for one in comparison.models if one.useful is not None]
    top = max(measured, key=lambda one: one.useful.value if one.useful else 0.0)
    if top is not choice.best and top not in choice.better and top.useful and choice.best.useful:
        cost = top.useful.value - choice.best.useful.value
        points = (
            f"{cost:.3f} of R²" if top.utility is None else f"{100 * cost:.2f} points of accuracy"
        )
        said.append(f"That costs {points} against {_called(top)}.")
    return said


def _policy_of(comparison: Comparison, model: ComparedModel) -> str:
    return "private" if model.ledger else plain(comparison.policy.title, 200)


def _weighed(comparison: Comparison) -> str:
    shared = common_measures([one for one in comparison.models if one.useful is not None])
    if shared:
        what = ", ".join(MEASURES[measure] for measure in shared)
        return f"Weighed: accuracy against what attacks found beyond the guess ({what})."
    return "Weighed: accuracy alone; what attacks find was not measured (--train and --test)."


def _called(model: ComparedModel) -> str:
    return plain(model.name, 60)

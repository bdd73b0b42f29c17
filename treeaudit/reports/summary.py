"""What an audit found, in people: the sentences at the top of a report."""

import re
from dataclasses import dataclass

from markupsafe import Markup

from treeaudit.findings.details import Share
from treeaudit.findings.findings import SEVERITIES, Check, Finding
from treeaudit.findings.report import Report, view_of
from treeaudit.reports.explanations import words
from treeaudit.reports.plain_text import plain
from treeaudit.reports.wording import VERDICT, in_bold, in_words, percent


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckLine:
    """One check."""

    status: str
    name: str
    title: str
    means: str  # What the check means, with an example; empty for a check of another package
    bound: str
    # Why it was not made, or passed unmeasured; empty where the line before says the same
    reason: str
    measured: str
    note: str
    attack: str  # The id of the result that it was measured on; empty where there is none


def check_lines(report: Report) -> list[CheckLine]:
    """Return the checks, those that failed first, a reason once."""
    order = {"fail": 0, "skipped": 1, "accepted": 2, "pass": 3, "not-applicable": 4}
    ids = {result.id for result in report.results}
    lines, said = [], ""
    for check in sorted(report.checks, key=lambda one: order[_status(one)]):
        reason = check.reason or ""
        lines.append(
            CheckLine(
                status=_status(check),
                name=check.name,
                title=check.title,
                means=" Example: ".join(words()["check"].get(check.name, {}).values()),
                bound=check.bound,
                reason="" if reason == said else reason,
                measured=_measured(check),
                note=_note(check, report),
                attack=check.attack if check.attack in ids and check.attack else "",
            )
        )
        said = reason
    return lines


def _status(check: Check) -> str:
    return "accepted" if check.accepted else check.status


def _note(check: Check, report: Report) -> str:
    if check.status == "not-applicable":
        return ""
    if check.accepted:
        return f"accepted{f', was {check.was}' if check.was else ''}"
    people = report.table.n_people
    if check.measured is None or not check.among or people is None:
        return ""
    return f"of {people:,}"


def _measured(check: Check) -> str:
    if check.status == "not-applicable":
        return "does not apply"
    if check.measured is None:
        return "not run" if check.status == "skipped" else check.shown or "unbounded"
    if isinstance(check.measured, Share):
        bound = next((x for x in ("at least ", "at most ") if check.shown.startswith(x)), "")
        return f"{bound}{percent(check.measured, check.threshold)}"
    return check.shown or f"{check.measured:g}"


_TERMS: dict[str, tuple[str, str]] = {
    "leaf": ("lea(?:f|ves)", "a group of people whom a tree treats alike"),
    "epsilon": ("epsilon", "the smaller, the less one person can change the model"),
    "differential privacy": (
        "differential(?:ly)? priva(?:cy|te)",
        "noise that hides any one person",
    ),
    "AUC": ("AUC", "how often a member scores above somebody else"),
    "95 % interval": ("95 % intervals?", "19 of 20 such audits hold the true number in theirs"),
    "shadow models": ("shadow models", "models trained on random halves of the same people"),
    "bootstrap": ("bootstrap(?:ped)?", "each tree sees people drawn with replacement"),
    "boosting": ("boost(?:ing|ed trees)", "trees that each correct those before"),
    "k-anonymity": ("k-anonymity", "groups of at least k"),
    "l-diversity": ("l-diversity", "groups of at least l different labels"),
    "t-closeness": ("t-closeness", "how far the labels of a group are from everybody's, 0 to 1"),
    "Ω-estimate": ("Ω-estimate", "an approximation for three or more labels"),
    "public prior": ("public prior", "known shares of each label"),
}
"""Term, what it looks like in a text, and what it means in a few words."""

_SPELLED = {
    term: re.compile(rf"(?<![\w-]){spelled}(?![\w-])") for term, (spelled, _) in _TERMS.items()
}
_TAG = re.compile(r"(<[^>]*>)")


class Glossary:
    """What a page has explained so far; called with its texts in their order."""

    def __init__(self) -> None:
        self._open = dict(_SPELLED)

    def __call__(self, text: str) -> Markup:
        """Return a text, escaped, with what it uses first explained."""
        whole = text if isinstance(text, Markup) else Markup.escape(plain(text, 800))
        parts = _TAG.split(whole)
        for i in range(0, len(parts), 2):
            parts[i] = self._explained(parts[i])
        return Markup("".join(parts))  # noqa: S704  # escaped above

    def words(self, text: str) -> str:
        """Return a text with what it uses first explained, without markup."""
        return self(text).striptags()

    def _explained(self, escaped: str) -> str:
        for term, spelled in list(self._open.items()):
            found = spelled.search(escaped)
            if found is None:
                continue
            del self._open[term]
            means = Markup.escape(_TERMS[term][1])
            # Nothing is explained within an explanation.
            before, after = escaped[: found.start()], escaped[found.end() :]
            words = f": {means}" if after.startswith(")") else f" ({means})"
            said = f'<abbr title="{means}">{found.group()}</abbr>{words}'
            return self._explained(before) + said + self._explained(after)
        return escaped


def pill(report: Report) -> tuple[str, str]:
    """Return the verdict in two words, and its tone."""
    if not report.checks:
        return "OBSERVED · no checks", "skip"
    highest = max((f.severity for f in report.findings), key=SEVERITIES.index, default="none")
    # Severities say how many people are reached; a policy that passes allows as many.
    risk = f" · {highest.upper()} RISK" if report.verdict == "fail" and highest != "none" else ""
    look = VERDICT[report.verdict]
    return f"{look.word} {report.verdict.upper()}{risk}", look.tone


def release(report: Report) -> str:
    """Answer whether the file may go out."""
    if not report.checks:
        return "Nothing was decided: this policy makes no checks."
    if report.verdict == "review" and any(check.accepted for check in report.checks):
        return "What fails was accepted before, but not every check could be run."
    return {
        "accepted": "No worse than what was accepted before; the policy alone would fail it.",
        "fail": "This file should not go out as it is.",
        "pass": "This file may go out under this policy, as far as it concerns somebody "
        f"{report.policy.attacker}.",
        "review": "Nothing failed, but not every check could be run: somebody has to decide.",
    }[report.verdict]


def headline(report: Report) -> Markup:
    """Return the verdict as one sentence in people, the numbers in bold."""
    views = [view_of(report, result) for result in report.results]
    can = [in_bold(view.headline) for view in views if view.headline is not None]
    both = [in_bold(view.together) for view in views if view.together is not None]
    told = []
    if both:
        told.append(_sentence("Anyone who can read this file", both))
    if can:
        who = "anyone" if both else "anyone who can read this file"
        if report.forest.records_are == "bootstrap":
            # Somebody else may fit the rule of a leaf and have another label.
            who = "anyone who knows the draws"
        one = f"In one tree alone, {who}" if report.forest.n_trees > 1 else who.capitalize()
        told.append(_sentence(one, can))
    if told:
        return Markup(" ").join(told)
    harmless = [view for view in views if view.harmless is not None]
    if not harmless:
        return Markup("The sizes of the groups were <b>not attacked</b>.")
    told = [in_bold(view.harmless) for view in harmless if view.harmless is not None]
    if all(isinstance(result, Finding) for result in report.results[:1]):
        told += [in_bold(view.too) for view in views if view.too is not None]
    # The sentence that answers a FAIL names what failed.
    worst = [one for one in report.checks if _status(one) == "fail"][:1]
    why = [
        Markup("{}: <b>{}</b> ({}). ").format(one.title, _measured(one), one.bound) for one in worst
    ]
    return Markup("{}{}.").format(Markup("").join(why), Markup("").join(told))


def _sentence(who: str, can: list[Markup]) -> Markup:
    return Markup("{} {}.").format(who, Markup(", and ").join(can))


def reasons(report: Report) -> list[str]:
    """Return three short lines that say why."""
    views = [view_of(report, result) for result in report.results]
    lines = [in_words(view.reason) for view in views if view.reason is not None]
    if any(finding.status == "found" for finding in report.findings):
        lines.append("Reading the file is enough: no training data and no queries are needed.")
    else:
        whose = "these attacks on the file and the people" if report.people else "the file alone"
        said = "say" if report.people else "says"
        lines.append(f"This is what {whose} {said}, not a proof: see what a pass does not mean.")
    return [line[:1].upper() + line[1:] for line in lines if line]

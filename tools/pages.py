"""Parts of the documentation that follow from the code, and the attacks, which are whole pages.

A part stands between ``<!-- generated: NAME -->`` and ``<!-- end -->`` in a page of ``docs``.
``python -m tools.pages`` writes them all again; a test holds that they are current.
"""

import html
import inspect
import re
from functools import cache
from pathlib import Path

from typer.main import get_command

import treeaudit as ta
from treeaudit import trainers
from treeaudit.attacks import ATTACKS, all_checks
from treeaudit.attacks.differencing import Differencing
from treeaudit.cli import _set_metavar, app
from treeaudit.cli.options import REGISTRIES
from treeaudit.findings.policy import BUILT_IN
from treeaudit.reports.explanations import Explanation, explanations
from treeaudit.trainers.algorithms import ALGORITHMS

ROOT = Path(__file__).parents[1]
LABELS = {
    "attacker": "What the attacker does",
    "assumes": "What the attacker needs",
    "remedy": "How to fix it",
    "limit": "What it cannot show",
    "means": "What it means",
    "example": "Example",
    "fix": "How to fix it",
    "do": "What to do",
    "does": "What it does",
    "fixes": "What it fixes",
    "leaves": "What it leaves",
    "source": "Source",
}
QUESTIONS = {
    "TA101": "Who is alone in a leaf, or among fewer than k?",
    "TA102": "Does the leaf determine the label?",
    "TA103": "Who falls if the attacker knows a few others?",
    "TA104": "Does the model give away a column of a person, from all others?",
    "TA105": "Can an attacker detect who was in the training data?",
    "TA106": "Which labels follow from all trees together?",
    "TA107": "Who is given away by two releases together?",
    "TA108": "Which people follow for certain from all trees together?",
    "TA109": "Does a leaf give a number away?",
    "TA110": "Are the people of a leaf alike in a column that you name?",
    "TA201": "Is a row number, an ID or a whole column given away?",
    "TA202": "Are labels, predictions or records left in the file?",
    "TA203": "Do stored seeds repeat who is in which tree?",
    "TA204": "Are values of a column, or hidden class counts, listed?",
    "TA205": "What would loading the file import and run?",
    "TA206": "What does the file hold beyond its models?",
    "TA207": "Do the trees hold together for the library that predicts with them?",
}


@cache
def words_of(*kinds: str) -> tuple[Explanation, ...]:
    return tuple(one for one in explanations() if one.kind in kinds)


def sentence(text: str) -> str:
    """Return a text as a sentence of Markdown."""
    text = re.sub(r"(?<![\w`])(--[a-z][a-z-]+|[a-z]+_[a-z_]+)(?![\w`])", r"`\1`", text.strip())
    text = text.replace("*", r"\*").replace("<", "&lt;")
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?", "|")) else ".")


def linked(text: str) -> str:
    return re.sub(r"\bTA\d{3}\b", lambda m: f"[{m[0]}](attacks/{m[0].lower()}.md)", text)


def table(heads, rows) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    cells = ([str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in lines)
    return "".join(f"| {' | '.join(row)} |\n" for row in cells)


def sections(*kinds: str, level: str = "###") -> str:
    """Return a section per word of these kinds."""
    parts = []
    for one in words_of(*kinds):
        parts.append(f"{level} {one.name}\n")
        if one.title.lower() != one.name:
            parts.append(f"*{sentence(one.title)}*\n")
        for label, text in one.parts.items():
            if label == "attack":
                parts.append(f"Attack: {linked(text)}\n")
            elif label == "means":
                parts.append(f"{sentence(text)}\n")
            else:
                parts.append(f"**{LABELS[label]}.** {sentence(text)}\n")
    return "\n".join(parts)


def checks() -> str:
    names = table(
        ("check", "what is measured", "attack"),
        (
            (f"[`{one.name}`](#{one.name})", one.title, linked(one.parts.get("attack", "–")))
            for one in words_of("check")
        ),
    )
    return f"{names}\n{sections('check')}"


def policies() -> str:
    """Return what each policy is for, and its bound of each check."""
    what = sections("policy")
    used = [name for name in all_checks() if any(name in one.values for one in BUILT_IN.values())]
    names = [name for name, one in BUILT_IN.items() if one.values]

    def bound(policy: str, check: str) -> str:
        value = BUILT_IN[policy].values.get(check)
        return "–" if value is None else all_checks()[check].rule.asked(value + 0)

    rows = (
        (f"[`{check}`](verdicts.md#{check})", *(bound(policy, check) for policy in names))
        for check in used
    )
    return f"{what}\n{table(('check', *names), rows)}\nA dash means that the policy has no bound."


def attack_list() -> str:
    return table(
        ("id", "attack", "the question that it answers"),
        (
            (f"[{one.name}]({one.name.lower()}.md)", one.title, QUESTIONS[one.name])
            for one in sorted(words_of("attack"), key=lambda one: one.name)
        ),
    )


def attack_page(attack) -> str:
    """Return the page of an attack, from its own words and an example that is run now."""
    (one,) = [one for one in words_of("attack") if one.name == attack.id]
    parts = [f"# {one.name}: {one.title}\n", f"*{QUESTIONS[one.name]}*\n"]
    parts += [f"## {LABELS['attacker']}\n", sentence(one.parts["attacker"]) + "\n"]
    parts += [f"## {LABELS['assumes']}\n", sentence(one.parts["assumes"]) + "\n"]
    parts += [f"## {LABELS['remedy']}\n", sentence(one.parts["remedy"]) + "\n"]
    parts.append("[Repair](../repair.md) lists the methods.\n")
    parts += [f"## {LABELS['limit']}\n", sentence(one.parts["limit"]) + "\n"]
    rows = [
        (f"[`{name}`](../verdicts.md#{name})", check.rule.title)
        for name, check in all_checks().items()
        if attack.id in check.attacks
    ]
    if rows:
        parts += ["## Checks of a policy\n", table(("check", "what is measured"), rows)]
    parts += [f"## {LABELS['source']}\n", sentence(one.parts["source"]) + "\n"]
    return "\n".join(parts)


def measured(page: Path) -> str:
    """Return the section at the end of a page that is written by hand: what was measured."""
    text = page.read_text("utf-8") if page.is_file() else ""
    _, head, said = text.partition("\n## What was measured\n")
    return head + said


def commands() -> str:
    """Return the help of every command."""
    parts = []
    for name, command in get_command(app).commands.items():
        parts.append(f"## {name}\n")
        arguments = [one for one in command.params if one.param_type_name == "argument"]
        words = " ".join(one.metavar or one.name.upper() for one in arguments)
        parts.append(f"```text\ntreeaudit {name} [OPTIONS] {words}\n```\n")
        for block in (command.help or "").split("\n\n"):
            text = " ".join(block.split())
            code = text.startswith("treeaudit ")
            parts.append(f"```sh\n{text}\n```\n" if code else f"{html.escape(text, quote=False)}\n")
        for one in command.params:
            _set_metavar(one)
        rows = [
            (" ".join(f"`{word}`" for word in named(one)), written(one), said(one))
            for one in command.params
            if not getattr(one, "hidden", False)
        ]
        parts.append(table(("option", "value", "meaning"), rows))
    return "\n".join(parts)


def named(option) -> tuple[str, ...]:
    argument = option.param_type_name == "argument"
    return (option.metavar or option.name.upper(),) if argument else tuple(option.opts)


def written(option) -> str:
    if option.param_type_name == "argument" or getattr(option, "is_flag", False):
        return ""
    return f"`{option.metavar}`"


def said(option) -> str:
    """Return the help of an option, with the names in a registry and its default."""
    text = getattr(option, "help", None) or ""
    for place, names in REGISTRIES.items():
        if place in text:
            text = text.replace(place, ", ".join(names()))
    shown = getattr(option, "show_default", False) and option.default not in (None, False, [], ())
    return html.escape(text, quote=False) + (f" Default: `{option.default}`." if shown else "")


def interface() -> str:
    """Return the public names, from their docstrings."""
    public = {name: getattr(ta, name) for name in ta.__all__ if not name.startswith("_")}
    functions = [name for name, one in public.items() if inspect.isfunction(one)]
    errors = [n for n, one in public.items() if inspect.isclass(one) and issubclass(one, Exception)]
    classes = [name for name in public if name not in (*functions, *errors)]
    parts = ["### Functions\n"]
    parts += [documented(name, public[name]) for name in functions]
    parts.append("### Classes\n")
    parts += [documented(name, public[name]) for name in classes]
    lines = ((f"`{name}`", first_line(public[name])) for name in errors)
    parts += ["### Errors and warnings\n", table(("name", "when"), lines)]
    rows = [(f"`{t.__name__}`", f"`{t.algorithm}`", first_line(t)) for t in ALGORITHMS]
    rows.append(("`PrivateSearch`", "–", first_line(trainers.PrivateSearch)))
    parts += ["### Trainers\n", "In `treeaudit.trainers`.\n"]
    parts.append(table(("class", "`train --algorithm`", "what it is"), rows))
    return "\n".join(parts)


def first_line(one) -> str:
    return markdown_of((inspect.getdoc(one) or "").split("\n\n")[0])


def markdown_of(text: str) -> str:
    return " ".join(text.replace("``", "`").split())


def documented(name: str, one) -> str:
    """Return a name with its signature and its docstring, numpydoc as Markdown."""
    try:
        signature = re.sub(r"(: |-> )'([^']+)'", r"\1\2", str(inspect.signature(one)))
    except (TypeError, ValueError):
        signature = ""
    signature = re.sub(r"\btreeaudit\.(?:\w+\.)+", "", signature)
    parts = [f"#### {name}\n"]
    parts.append(f"```text\ntreeaudit.{name}{wrapped(signature)}\n```\n")
    blocks = re.split(r"\n(?=\w[\w ]*\n-{3,}\n)", inspect.getdoc(one) or "")
    for block in blocks:
        head = re.match(r"(\w[\w ]*)\n-{3,}\n", block)
        body = block[head.end() :] if head else block
        if head is None:
            parts += [f"{markdown_of(text)}\n" for text in body.split("\n\n")]
            continue
        parts.append(f"**{head[1]}**\n")
        if ">>>" in body:
            parts.append(f"```text\n{body.strip()}\n```\n")
        else:
            parts.append(items(body))
    if inspect.isclass(one):
        rows = [
            (f"`{word}`", first_line(method))
            for word, method in inspect.getmembers(one)
            if not word.startswith("_")
            and (inspect.isroutine(method) or isinstance(method, property))
            and inspect.getdoc(method)
        ]
        if rows:
            parts.append(table(("member", "what it does"), rows))
    return "\n".join(parts)


def wrapped(signature: str) -> str:
    """Return a long signature with a parameter a line."""
    if len(signature) <= 70:
        return signature
    inner, _, result = signature[1:].rpartition(")")
    parts = re.split(r", (?=\*|\w+(?::|=|,|$))(?![^\[(]*[\])])", inner)
    return "(\n    " + ",\n    ".join(parts) + ",\n)" + result


def items(body: str) -> str:
    """Return the entries of a section: names at the margin, words indented."""
    lines = []
    for line in body.splitlines():
        if line and not line.startswith(" "):
            lines.append(
                f"- `{line.strip()}`:" if ":" not in line or " : " in line else f"- {line}"
            )
        elif line.strip():
            lines[-1:] = [f"{lines[-1]} {line.strip()}"] if lines else [line.strip()]
    return markdown_of("\n".join(lines)).replace(" - `", "\n- `") + "\n"


def repair_costs() -> str:
    """Return what was measured of ``defend``, from the file of the benchmark."""
    results = (ROOT / "benchmarks" / "RESULTS.md").read_text("utf-8")
    part = results.partition("<!-- defended: begin -->")[2].partition("<!-- defended: end -->")[0]
    (summary,) = re.findall(r"^\*\*(.+)\*\*$", part, re.M)
    head, _, *rows = re.findall(r"^\|.*\|$", part, re.M)
    kept = "\n".join(row for row in rows if row.startswith(("| adult ", "| loan ", "| magic ")))
    return (
        f"Public tables, models as their libraries train them, `treeaudit defend` with `--train` "
        f"and `--test`: {summary} The whole table is in [RESULTS.md](../benchmarks/RESULTS.md). "
        f"Three of the tables:\n\n{head}\n{_}\n{kept}\n"
    )


PARTS = {
    "verdicts": lambda: sections("verdict"),
    "states": lambda: table(
        ("state", "what it means"),
        ((one.name.replace("-", " "), one.parts["means"]) for one in words_of("status")),
    ),
    "exit codes": lambda: table(
        ("code", "what it means"), ((one.name, one.parts["means"]) for one in words_of("exit"))
    ),
    "checks": checks,
    "policies": policies,
    "attacks": attack_list,
    "defenses": lambda: sections("repair"),
    "repair costs": repair_costs,
    "terms": lambda: sections("term", level="##"),
    "commands": commands,
    "api": interface,
}
_PART = re.compile(r"(<!-- generated: ([\w ]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def current(text: str) -> str:
    """Return a page with its parts made anew."""
    return _PART.sub(lambda found: f"{found[1]}\n{PARTS[found[2]]().strip()}\n\n{found[3]}", text)


def pages() -> dict[Path, str]:
    """Return every page that follows from the code, as a whole or in parts."""
    docs = ROOT / "docs"
    made = {
        (page := docs / "attacks" / f"{one.id.lower()}.md"): attack_page(one) + measured(page)
        for one in (*ATTACKS, Differencing)
    }
    for page in sorted(docs.rglob("*.md")):
        text = page.read_text("utf-8")
        if _PART.search(text):
            made[page] = current(text)
    return made


if __name__ == "__main__":
    for page, text in pages().items():
        page.write_text(text, encoding="utf-8")

"""What mkdocs makes from the code: attacks, checks, repairs, policies, commands and interface.

A hook of mkdocs (``hooks`` in ``mkdocs.yml``). A page has a marker ``<!-- generated: NAME -->`` for
each part; attacks and notebooks are whole pages.
"""

import base64
import html
import inspect
import json
import pickle
import re
import tempfile
from functools import cache
from pathlib import Path

from mkdocs.structure.files import File
from typer.main import get_command

import treeaudit as ta
from treeaudit import trainers
from treeaudit.attacks import ATTACKS, all_checks
from treeaudit.attacks.differencing import Differencing
from treeaudit.cli import _set_metavar, app
from treeaudit.cli.options import REGISTRIES
from treeaudit.findings.policy import BUILT_IN
from treeaudit.reports.explanations import Explanation, explanations
from treeaudit.reports.html import to_html
from treeaudit.trainers.algorithms import ALGORITHMS

ROOT = Path(__file__).parents[1]
SOURCE = "https://github.com/treeaudit/treeaudit/blob/main/"
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
}


def on_files(files, config):
    """Add the pages that are made whole."""
    pages = {f"attacks/{one.id.lower()}.md": attack_page(one) for one in (*ATTACKS, Differencing)}
    pages["security.md"] = (ROOT / "SECURITY.md").read_text("utf-8").replace("](docs/", "](")
    pages["changelog.md"] = (ROOT / "CHANGELOG.md").read_text("utf-8")
    pages |= {f"examples/{name}.html": page for name, (_, page) in examples().items()}
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        page, images = notebook_page(notebook)
        pages |= {f"notebooks/{notebook.stem}.md": page} | images
    for name, content in pages.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown, page, config, files):
    """Put in what is generated, and lead links out of the site to the repository."""
    for name, make in PARTS.items():
        marker = f"<!-- generated: {name} -->"
        if marker in markdown:
            markdown = markdown.replace(marker, make())
    if "<!-- generated:" in markdown:
        raise ValueError(f"{page.file.src_uri} has a marker that nothing generates")
    return re.sub(r"\]\(((?:\.\./)+)([^)]*)\)", lambda found: outside(found, page), markdown)


def on_post_page(output, page, config):
    """Take the frame for the search from the site itself: the theme takes it from a network."""
    up = "../" * page.file.dest_uri.count("/")
    return own_script(output, f"{up}site.js")


def on_post_template(output_content, template_name, config):
    """Do the same for the page that a server shows for a wrong address."""
    return own_script(output_content, "/site.js")


def own_script(text: str, address: str) -> str:
    text = text.replace("https://unpkg.com/iframe-worker/shim", address)
    return text.replace('role="dialog">', 'role="dialog" aria-label="Search">')


def outside(found, page):
    """Return a link to the repository for a file that is not on the site."""
    folder = ROOT / "docs" / Path(page.file.src_uri).parent
    file = Path(*(folder / (found[1] + found[2].partition("#")[0])).resolve().parts)
    if file.is_relative_to(ROOT / "docs"):
        return found[0]
    if not file.exists():
        raise ValueError(f"{page.file.src_uri} links to {found[2]}, which is not there")
    return f"]({SOURCE}{file.relative_to(ROOT).as_posix()})"


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


def sections(*kinds: str, title: str = "{0.name}: {0.title}", level: str = "###") -> str:
    """Return a section per word of these kinds."""
    parts = []
    for one in words_of(*kinds):
        parts.append(f"{level} {title.format(one)} {{#{one.name.lower()}}}\n")
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
    what = sections("policy", title="{0.name}")
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
    if attack.id in (found := examples()):
        parts += ["## Example\n", found[attack.id][0]]
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


SAID = (
    "a tree on 426 patients, with the training people and 143 others",
    "a forest of 5 trees on the same patients, four columns of yes or no",
    "a tree that predicts a number for 442 patients, their row number among the columns",
    "a forest of 30 small trees on 331 of these patients, with the training people and 111 others",
    "a file with a boosting on binned numbers, a forest with its seed, and a note",
)


@cache
def reports() -> tuple[ta.Report, ...]:
    """Return the audits of small models, in the order of `SAID`."""
    import numpy as np
    import pandas as pd
    from sklearn import datasets, ensemble
    from sklearn.model_selection import train_test_split
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    Forest = ensemble.RandomForestClassifier
    data = datasets.load_breast_cancer(as_frame=True)
    people = data.data.round(2).assign(label=data.target.map({0: "malignant", 1: "benign"}))
    people["group"] = pd.cut(people["mean radius"], 3, labels=["low", "middle", "high"]).astype(str)
    train, test = train_test_split(people, random_state=0)
    columns = train.drop(columns=["label", "group"])
    tree = DecisionTreeClassifier(random_state=0).fit(columns, train["label"])
    four = columns.iloc[:, :4] > columns.iloc[:, :4].median()
    forest = Forest(5, bootstrap=False, max_depth=4, random_state=0).fit(four, train["label"])

    data = datasets.load_diabetes(as_frame=True)
    numbered = data.data.assign(row_id=np.arange(len(data.data)))
    regressor = DecisionTreeRegressor(random_state=0).fit(numbered, data.target)
    worse = data.data.assign(worse=np.where(data.target > data.target.median(), "yes", "no"))
    known, others = train_test_split(worse, random_state=0)
    small = Forest(30, bootstrap=False, max_depth=4, random_state=0)
    small.fit(known.drop(columns="worse"), known["worse"])

    bundle = {
        "model": ensemble.HistGradientBoostingClassifier(max_iter=2).fit(columns, train["label"]),
        "other": Forest(5, random_state=0).fit(columns, train["label"]),
        "note": "for the ward, do not pass on",
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.pkl"
        file.write_bytes(pickle.dumps(bundle))
        boosting = ta.scan(ta.load(file, select="model"))
    given = {"train": train, "test": test, "target": "label", "sensitive": ["group"]}
    return (
        ta.scan(tree, **given),
        ta.scan(forest),
        ta.scan(regressor),
        ta.scan(small, train=known, test=others, target="worse"),
        boosting,
    )


@cache
def examples() -> dict[str, tuple[str, str]]:
    """Return what each attack finds first in these models, and its card of the report alone."""
    found: dict[str, tuple[str, str]] = {}
    for said, report in zip(SAID, reports(), strict=True):
        page = to_html(report)
        style = page.partition("<style>")[2].partition("</style>")[0]
        cards = page.partition("<h2>What was found</h2>")[2].partition('<p class="after">')[0]
        for card in cards.split('\n<details class="card attack ')[1:]:
            named = re.match(r'tone-\w+" id="(\w+)"', card)
            if named and (name := named[1]) not in found:
                text = str(report[name]).strip()
                found[name] = (
                    f"From {said}:\n\n```text\n{text}\n```\n\nThe same in the report:\n\n"
                    f'<iframe class="report" title="{name} in a report" '
                    f'src="../examples/{name}.html"></iframe>\n',
                    f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{name}</title>'
                    f"<style>{style} body {{ padding: 12px }}</style>"
                    f'<main><details open class="card attack {card}</main></html>',
                )
    return found


def commands() -> str:
    """Return the help of every command."""
    parts = []
    for name, command in get_command(app).commands.items():
        parts.append(f"## {name} {{#{name}}}\n")
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
    parts = [f"#### {name} {{#{name.lower()}}}\n"]
    parts.append(f"```python\ntreeaudit.{name}{wrapped(signature)}\n```\n")
    blocks = re.split(r"\n(?=\w[\w ]*\n-{3,}\n)", inspect.getdoc(one) or "")
    for block in blocks:
        head = re.match(r"(\w[\w ]*)\n-{3,}\n", block)
        body = block[head.end() :] if head else block
        if head is None:
            parts += [f"{markdown_of(text)}\n" for text in body.split("\n\n")]
            continue
        parts.append(f"**{head[1]}**\n")
        if ">>>" in body:
            parts.append(f"```python\n{body.strip()}\n```\n")
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


def notebook_page(path: Path) -> tuple[str, dict[str, bytes]]:
    """Return a notebook as Markdown with its outputs, and its images by their address."""
    parts, images = [], {}
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            if "text" in output:
                parts.append(f"```text\n{''.join(output['text']).rstrip()}\n```")
            data = {kind: "".join(text) for kind, text in output.get("data", {}).items()}
            if "image/png" in data:
                name = f"{path.stem}-{len(images)}.png"
                images[f"notebooks/{name}"] = base64.b64decode(data["image/png"])
                parts.append(f"![Figure of the cell above]({name})")
            elif 'class="dataframe"' in data.get("text/html", ""):
                text = re.sub(r"<style.*?</style>", "", data["text/html"], flags=re.DOTALL)
                text = re.sub(r"<(table|tr)\b[^>]*>", r"<\1>", text)
                parts.append("\n".join(line.strip() for line in text.splitlines() if line.strip()))
            elif "text/plain" in data:
                parts.append(f"```text\n{data['text/plain']}\n```")
    parts.append(f"The notebook itself: [{path.name}](../../notebooks/{path.name}).")
    return "\n\n".join(parts) + "\n", images


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
    "terms": lambda: sections("term", title="{0.name}", level="##"),
    "commands": commands,
    "api": interface,
}

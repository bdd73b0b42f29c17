"""What mkdocs adds to the pages of ``docs``: examples that run now, notebooks, links that leave.

A hook of mkdocs (``hooks`` in ``mkdocs.yml``).
"""

import base64
import json
import pickle
import re
import tempfile
from functools import cache
from pathlib import Path

from mkdocs.structure.files import File

import treeaudit as ta
from treeaudit.reports.html import to_html

ROOT = Path(__file__).parents[1]
SOURCE = "https://github.com/treeaudit/treeaudit/blob/main/"


def on_files(files, config):
    """Add the pages that are not of this folder."""
    pages = {f"examples/{name}.html": page for name, (_, page) in examples().items()}
    pages["security.md"] = (ROOT / "SECURITY.md").read_text("utf-8").replace("](docs/", "](")
    pages["changelog.md"] = (ROOT / "CHANGELOG.md").read_text("utf-8")
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        page, images = notebook_page(notebook)
        pages |= {f"notebooks/{notebook.stem}.md": page} | images
    for name, content in pages.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown, page, config, files):
    """Show an example of an attack, and lead links out of the site to the repository."""
    example, _ = examples().get(Path(page.file.src_uri).stem.upper(), ("", ""))
    fix = "## How to fix it\n"
    markdown = markdown.replace(fix, f"## Example\n\n{example}\n{fix}" if example else fix)
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
                # The rows that it links to are not in this part of the page.
                card = re.sub(r'<a href="#t[^"]*">(.*?)</a>', r"<b>\1</b>", card)
                found[name] = (
                    f"From {said}:\n\n```text\n{text}\n```\n\nThe same in the report:\n\n"
                    f'<iframe class="report" title="{name} in a report" '
                    f'src="../examples/{name}.html"></iframe>\n',
                    f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{name}</title>'
                    f"<style>{style} body {{ padding: 12px }}</style>"
                    f'<main><details open class="card attack {card}</main></html>',
                )
    return found


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

"""A page that a person finishes: one screen decides, 900 words, four sheets of paper."""

import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import treeaudit as ta
from tests.strategies import one_in
from treeaudit.repair.suggestion import with_fix
from treeaudit.reports.formats import render
from treeaudit.trainers.private_tree import PrivateTreeClassifier

pytestmark = [pytest.mark.browser, pytest.mark.sampled]
GOLDEN = Path(__file__).parent.parent / "golden" / "reports"
PAGES = sorted(p.name for p in GOLDEN.glob("*.html") if not p.name.startswith("compare"))
OPEN = [name for name in PAGES if ".release-safe." not in name]
MOST_WORDS, MOST_SHEETS = 900, 4
TRAIN, TEST = slice(0, 2_000), slice(2_000, 3_000)
MODELS = ["unlimited", "depth 6", "forest", "forest of large leaves", "boosting", "private"]


def _model(name: str, x, y):
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    if name == "private":
        return PrivateTreeClassifier(epsilon=1.0, schema="from-data").fit(x, y)
    return {
        "unlimited": DecisionTreeClassifier(random_state=0),
        "depth 6": DecisionTreeClassifier(max_depth=6, random_state=0),
        "forest": RandomForestClassifier(40, random_state=0),
        "forest of large leaves": RandomForestClassifier(100, min_samples_leaf=10, random_state=0),
        "boosting": GradientBoostingClassifier(n_estimators=15, random_state=0),
    }[name].fit(x, y)


@pytest.fixture(scope="module", params=one_in(2, MODELS))
def pages(request, adult, tmp_path_factory) -> list[Path]:
    """The page of the file alone, with people at hand, and its release-safe copy."""
    columns, income = adult
    train, test = (columns[part].assign(income=income[part]) for part in (TRAIN, TEST))
    model = _model(request.param, columns[TRAIN], income[TRAIN])
    alone = with_fix(ta.scan(model))
    held = with_fix(ta.scan(model, train=train, test=test), train=train, test=test)
    folder, written = tmp_path_factory.mktemp("six"), []
    for i, (report, safe) in enumerate([(alone, False), (held, False), (held, True)]):
        path = folder / f"{i}.html"
        text = render(report, "html", release_safe=safe)
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written


@pytest.fixture
def golden_page(tmp_path):
    """A golden page with the style and script that it is compared without."""
    style, script = (inline(name) for name in ("report.css", "report.js"))

    def made(name: str) -> Path:
        text = (GOLDEN / name).read_text(encoding="utf-8")
        for tag, block in (("style", style), ("script", script)):
            text = re.sub(rf"(?s)<{tag}>.*?</{tag}>", lambda _: f"<{tag}>{block}</{tag}>", text)  # noqa: B023
        path = tmp_path / name
        path.write_text(re.sub("<meta http-equiv.*?>", "", text), encoding="utf-8")
        return path

    return made


def inline(name: str) -> str:
    return (files("treeaudit.reports") / "templates" / name).read_text(encoding="utf-8")


def _is_short(browser, path: Path) -> None:
    page = browser.new_page()
    page.goto(path.as_uri())
    words = len(page.evaluate("document.body.innerText").split())
    sheets = len(re.findall(rb"/Type\s*/Page\b(?!s)", page.pdf(format="A4")))
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 703, "height": 1032})
    decided = page.locator("#verdict .decide, #verdict > .answer").first.bounding_box()
    page.close()
    assert words <= MOST_WORDS
    assert 1 <= sheets <= MOST_SHEETS
    assert decided["y"] + decided["height"] <= 1032


@pytest.mark.parametrize("name", one_in(6, PAGES))
def test_every_page_is_short(browser, golden_page, name) -> None:
    _is_short(browser, golden_page(name))


def test_six_models_are_told_in_four_sheets(browser, pages) -> None:
    for path in pages:
        _is_short(browser, path)


def _odd(kind: str):
    """Models whose names, classes or trees are many or long, and their people."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.tree import DecisionTreeClassifier

    columns, classes, words, model = {
        "300 columns": (300, 2, 5, DecisionTreeClassifier(random_state=0)),
        "100 classes": (6, 100, 1, DecisionTreeClassifier(max_leaf_nodes=200, random_state=0)),
        "names of 40 words": (30, 3, 40, RandomForestClassifier(20, random_state=0)),
        "1,000 trees": (8, 2, 2, RandomForestClassifier(1000, max_depth=5, random_state=0)),
        "numbers": (12, 0, 6, RandomForestRegressor(10, random_state=0)),
    }[kind]
    rng = np.random.default_rng(0)
    names = [" ".join([*rng.choice(["age", "of", "income", "house"], words), str(i)])
             for i in range(columns)]  # fmt: skip
    x = pd.DataFrame(rng.normal(size=(1_200, columns)).round(2), columns=names)
    y = (x[names[0]] + rng.normal(size=len(x))).round(2)
    if classes:
        cuts = np.linspace(-3, 3, classes - 1)
        y = pd.Series([f"class number {i} of all of them" for i in np.digitize(y, cuts)])
        x, y = x[known := y.isin(set(y[:800])) | (x.index < 800)], y[known]
    people = x.assign(label=y)
    return model.fit(x[:800], y[:800]), people[:800], people[800:]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "kind",
    one_in(2, ["300 columns", "100 classes", "names of 40 words", "1,000 trees", "numbers"]),
)
def test_odd_models_are_told_in_four_sheets(browser, tmp_path, kind) -> None:
    model, train, test = _odd(kind)
    held = ta.scan(model, train=train, test=test, target="label", seconds=1)
    for i, report in enumerate([ta.scan(model, seconds=1), held]):
        (path := tmp_path / f"{i}.html").write_text(render(report, "html"), encoding="utf-8")
        _is_short(browser, path)
        _decides(browser, path, 390, 844)


def _decides(browser, path: Path, width: int, height: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto(path.as_uri())
    asked = page.locator(".decide h3").all_inner_texts()
    assert asked[:3] == ["May it go out?", "Who is exposed?", "What to do"]
    for part in (".answer", ".headline", ".decide .steps li, .decide .do", ".decide .command"):
        told = page.locator(part)
        if told.count() or part != ".decide .command":
            box = told.first.bounding_box()
            assert box["y"] + box["height"] <= height, part
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
@pytest.mark.parametrize("name", one_in(3, OPEN))
def test_one_screen_decides(browser, golden_page, name, width, height) -> None:
    _decides(browser, golden_page(name), width, height)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_one_screen_decides_of_six_models(browser, pages, width, height) -> None:
    for path in pages[:2]:  # a release-safe copy tells of no person
        _decides(browser, path, width, height)


def test_a_link_opens_what_it_leads_into(browser, golden_page) -> None:
    page = browser.new_page()
    page.goto(golden_page("tree_people.html").as_uri())
    for part in ("#pass", "#TA102", ".published tbody tr"):
        assert not page.locator(part).first.locator("dt, li, td, p").first.is_visible()
    # The page hears of a new address after the click.
    page.locator(".checks a[href='#TA102']").first.click()
    page.locator("#TA102 .facts").wait_for()
    page.locator(".proofs a").first.click()
    page.locator(".published tbody tr:target").wait_for()
    page.close()


def test_a_comparison_is_printed_with_all_its_columns(browser, tmp_path) -> None:
    """A private model has a bound beside its epsilon; the accuracy stood beyond the sheet."""
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    people = pd.DataFrame({"age": rng.integers(18, 90, 600), "ill": rng.integers(0, 2, 600)})
    schema = ta.Schema(
        features=(ta.Feature(name="age", low=0, high=100),), classes=(0, 1), target="ill"
    )
    private = PrivateTreeClassifier(epsilon=1, schema=schema).fit(people[["age"]], people.ill)
    tree = DecisionTreeClassifier(max_depth=4).fit(people[["age"]], people.ill)
    found = ta.compare(
        tree, private, names=["a_long_name_of_a_tree.joblib", "private.json"], target="ill",
        train=people, test=people.assign(age=people.age + 0.5),
    )  # fmt: skip
    page = browser.new_page()
    page.goto(found.save(tmp_path / "compared.html").as_uri())
    for width, media in ((1200, "screen"), (703, "print")):
        page.emulate_media(media=media)
        page.set_viewport_size({"width": width, "height": 1032})
        wide, room = page.evaluate(
            "(t => [t.scrollWidth, t.parentElement.clientWidth])(document.querySelector('table'))"
        )
        assert wide <= room + 1
    page.close()

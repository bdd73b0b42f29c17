"""The HTML report in a real browser: no network, accessible, nothing runs."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.strategies import one_in
from treeaudit import Forest, Report, Schema, Tree, scan
from treeaudit.repair.suggestion import with_fix
from treeaudit.reports.html import to_html

pytestmark = pytest.mark.browser
INF = np.inf
UNFOLD = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"


def grown(depth: int, seed: int = 0, features: int = 6, name: str = "feature {}") -> Tree:
    """A full binary tree with random group sizes, most of them small."""
    n = 2 ** (depth + 1) - 1
    rng = np.random.default_rng(seed)
    counts = np.zeros((n, 2))
    counts[n // 2 :, 0] = rng.geometric(0.2, n - n // 2)
    counts[n // 2 :, 1] = rng.integers(0, 3, n - n // 2)
    for node in range(n - 1, 0, -1):
        counts[(node - 1) // 2] += counts[node]
    left = np.arange(n) % 2 == 1
    cut = np.round(rng.normal(size=n), 3)
    cut[2::2] = cut[1::2]
    feature = rng.integers(0, features, n)
    feature[2::2] = feature[1::2]
    feature[0] = -1
    return Tree(
        parent=np.concatenate([[-1], (np.arange(1, n) - 1) // 2]),
        feature=feature,
        low=np.where(left, -INF, cut),
        high=np.where(left, cut, INF),
        n_records=counts.sum(axis=1),
        counts=counts,
    )


def schema(name: str = "feature {}") -> Schema:
    return Schema.numeric([name.format(i) for i in range(6)], ["no", "yes"])


def models() -> dict[str, Forest]:
    regressor = grown(4)
    plain = {a: getattr(regressor, a) for a in ("parent", "feature", "low", "high", "n_records")}
    script = "<script>window.ran = 1</script>{}<img src=x onerror='window.ran=1'>"
    return {
        "tree": Forest(trees=(grown(5),), schema=schema()),
        "big": Forest(trees=(grown(12),), schema=schema()),
        "forest": Forest(
            trees=tuple(grown(5, seed) for seed in range(12)),
            schema=schema(),
            records_are="bootstrap",
        ),
        "regressor": Forest(
            trees=(Tree(**plain, value=np.arange(regressor.n_nodes)),),
            schema=Schema.numeric(6),
            counts_are="absent",
            counts_reason="the model predicts a number, not a class",
        ),
        "hostile": Forest(trees=(grown(5),), schema=schema(script)),
        "passing": Forest(
            trees=(Tree(parent=[-1], feature=[-1], low=[-INF], high=[INF], n_records=[30],
                        counts=[[10, 20]]),),
            schema=schema(),
        ),
    }  # fmt: skip


def held() -> Report:
    """A tree held against everything that can be given, and a repair that was tried."""
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    people = pd.DataFrame(
        {name: rng.integers(0, 12, 2_800) for name in ("age", "height", "<script>weight")}
    )
    people["label"] = np.where(rng.random(2_800) < people["age"] / 12, "ill", "well")
    people["religion"] = rng.choice(["a", "b"], 2_800, p=[0.9, 0.1])
    train, test = people[:400].reset_index(drop=True), people[400:]
    used = ["age", "height", "<script>weight"]
    model = DecisionTreeClassifier(max_depth=6, random_state=0).fit(train[used], train["label"])
    report = scan(
        model, train=train, test=test, known=train[:40], sensitive=["religion"], fraction=0.1
    )
    return with_fix(report, test=test)


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    written = {}
    reports = {name: scan(model) for name, model in models().items()} | {"held": held()}
    for name, report in reports.items():
        for kind, safe in (("", False), ("-safe", True)):
            path = folder / f"{name}{kind}.html"
            path.write_text(to_html(report, release_safe=safe), encoding="utf-8")
            written[name + kind] = path
    return written


NAMES = [name + kind for name in (*models(), "held") for kind in ("", "-safe")]


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("name", "scheme"),
    [*((name, "light") for name in NAMES), *((name, "dark") for name in one_in(4, NAMES))],
)
def test_nothing_is_inaccessible(browser, pages, name, scheme):
    from axe_playwright_python.sync_playwright import Axe

    context = browser.new_context(color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.goto(pages[name].as_uri())
    page.evaluate(UNFOLD)
    results = Axe().run(page)
    violations = [
        (v["id"], v["nodes"][0]["html"][:200], v["nodes"][0].get("failureSummary"))
        for v in results.response["violations"]
    ]
    context.close()
    assert violations == []


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NAMES)
def test_one_request_no_errors_nothing_runs(browser, pages, name):
    page = browser.new_page()
    requests, errors = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(pages[name].as_uri())
    page.wait_for_load_state("networkidle")
    assert [url for url in requests if not url.startswith("data:")] == [pages[name].as_uri()]
    assert errors == []
    assert page.evaluate("window.ran") is None
    page.close()


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("name", "width"),
    one_in(3, [(name, width) for name in NAMES for width in (400, 900, 320)]),
)
def test_the_page_never_scrolls_sideways(browser, pages, name, width):
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(pages[name].as_uri())
    page.evaluate(UNFOLD)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_hostile_names_are_readable(browser, pages):
    page = browser.new_page()
    page.goto(pages["hostile"].as_uri())
    page.evaluate(UNFOLD)
    assert "<script>window.ran = 1</script>" in page.locator(".published").inner_text()
    page.close()


def test_the_icicle_is_read_with_the_keyboard(browser, pages):
    page = browser.new_page()
    page.goto(pages["tree"].as_uri())
    page.locator(".drawing").focus()
    page.keyboard.press("ArrowRight")
    assert "person" in page.locator("#read-1").inner_text() or "people" in page.locator(
        "#read-1"
    ).inner_text()  # fmt: skip
    row = page.locator(".col.on").get_attribute("data-row")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == row
    page.close()


def test_rows_can_be_filtered_and_searched(browser, pages):
    page = browser.new_page()
    page.goto(pages["tree"].as_uri())
    page.evaluate(UNFOLD)
    shown = ".published tbody tr:visible"
    every = page.locator(shown).count()
    page.get_by_role("button", name="Below 5").click()
    assert 0 < page.locator(shown).count() < every
    page.get_by_role("button", name="All").click()
    page.get_by_role("searchbox").fill("no such text")
    assert page.locator(shown).count() == 0
    page.close()


def test_a_folded_list_opens_with_the_keyboard(browser, pages):
    page = browser.new_page()
    page.goto(pages["held"].as_uri())
    page.evaluate(
        "document.querySelectorAll('details.attack').forEach((one) => { one.open = true; })"
    )
    folded = page.locator(".plot details").first
    assert not folded.locator("li").first.is_visible()
    folded.locator("summary").focus()
    page.keyboard.press("Enter")
    folded.locator("li").first.wait_for()
    page.close()


def test_dots_lie_on_one_scale(browser, pages):
    """A share is drawn where its number says, whatever the width of the page."""
    page = browser.new_page(viewport={"width": 400, "height": 800})
    page.goto(pages["held"].as_uri())
    page.evaluate(UNFOLD)
    line = page.locator(".cells-3:not(.told) tbody tr", has_text="Unseen people").first
    box, dot = line.locator("svg").bounding_box(), line.locator(".wd").bounding_box()
    share = float(line.locator(".value").inner_text().rstrip("%")) / 100
    drawn = (dot["x"] + dot["width"] / 2 - box["x"]) / box["width"]
    assert abs(drawn - share) < 0.02
    page.close()


def test_the_theme_can_be_changed(browser, pages):
    page = browser.new_page(color_scheme="light")
    page.goto(pages["tree"].as_uri())
    colour = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(colour)
    page.get_by_role("button", name="Dark").click()
    assert page.evaluate(colour) != before
    page.close()


def test_everything_is_there_without_javascript(browser, pages):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(pages["tree"].as_uri())
    assert page.locator(".published tbody tr").count() == 32
    assert page.locator("#theme").is_hidden()
    assert page.locator(".tools").is_hidden()
    assert page.locator("svg .col").count() == 32
    context.close()


def test_a_tree_of_73500_leaves_stays_small(browser, tmp_path):
    tree = grown(16)
    extra = 73_500 - 2**16
    leaves = tree.leaves[:extra]
    split = np.repeat(leaves, 2)
    side = np.tile([True, False], extra)
    big = Tree(
        parent=np.concatenate([tree.parent, split]),
        feature=np.concatenate([tree.feature, np.zeros(2 * extra)]),
        low=np.concatenate([tree.low, np.where(side, -INF, 9.0)]),
        high=np.concatenate([tree.high, np.where(side, 9.0, INF)]),
        n_records=np.concatenate([tree.n_records, np.ones(2 * extra)]),
        counts=np.concatenate([tree.counts, np.tile([[1.0, 0.0]], (2 * extra, 1))]),
    )
    assert len(big.leaves) == 73_500
    path = tmp_path / "big.html"
    path.write_text(to_html(scan(Forest(trees=(big,), schema=schema()))), encoding="utf-8")
    assert path.stat().st_size < 5_000_000
    page = browser.new_page()
    page.goto(path.as_uri())
    assert page.locator("svg .col").count() <= 150
    page.close()

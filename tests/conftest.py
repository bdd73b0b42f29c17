"""Models and data that several tests share, and how the tests are run.

* ``make check-fast`` runs the core without what is marked ``slow``, ``libraries`` or ``browser``,
  with few examples of every law; ``make check`` runs everything.
* ``@pytest.mark.slow``: more than about a CPU second. ``@pytest.mark.libraries``: needs a model
  library other than scikit-learn; get it with ``tests.libraries.library("xgboost")``, which
  imports it when a test first uses it and skips that test where it is missing.
* ``tests.cli.run.run("scan", path, ...)`` is the command line, called in this process;
  ``spawn`` is the same in one of its own.
* Laws (hypothesis) run in a profile, ``--hypothesis-profile NAME`` or ``HYPOTHESIS_PROFILE``:
  ``fast`` 5 examples, ``ci`` 6 (unless told; the same ones every time: what decides whether a
  change lands tosses no coin), ``deep`` 1,000. ``@examples(n)`` of
  `tests.strategies` tries at most n of them; of a test marked ``sampled(n)`` every nth case runs,
  and ``one_in(n, cases)`` is every nth of cases within one; all of them run in ``deep``.
* Nothing is timed by the clock on the wall; a limit is in CPU seconds.
"""

import difflib
import functools
import os
import pickle
from collections import Counter
from importlib import metadata
from itertools import islice
from pathlib import Path

# Read once, when numpy and typer are imported: threads that wait for each other on a busy machine
# cost more than the work itself, and a help text is as wide as its first terminal.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
os.environ.update(TERMINAL_WIDTH="80", _TYPER_FORCE_DISABLE_TERMINAL="1")
# The clock of every record: 1 January 2026, 12:00 UTC.
os.environ.update(SOURCE_DATE_EPOCH="1767268800")

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from treeaudit.model.forest import Forest
from treeaudit.model.schema import Schema
from treeaudit.model.source import KINDS, Extras
from treeaudit.model.tree import Tree

INF = np.inf

# Its doctests are looked for, and it needs a POSIX system.
collect_ignore = [] if os.name == "posix" else ["hostile/sandbox.py"]

# A law is about what is true, not about how long a busy machine takes.
for name, most in (("fast", 5), ("ci", 6), ("deep", 1_000)):
    settings.register_profile(
        name,
        deadline=None,
        derandomize=name == "ci",
        max_examples=most,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write the golden files instead of comparing"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave all cases but every nth of a test marked ``sampled(n)`` to the profile ``deep``."""
    seen, kept, left = Counter(), [], []
    for item in items:
        mark = item.get_closest_marker("sampled")
        n = mark.args[0] if mark and mark.args and settings().max_examples < 1_000 else 1
        name = item.nodeid.partition("[")[0]
        (left if seen[name] % n else kept).append(item)
        seen[name] += 1
    config.hook.pytest_deselected(items=left)
    items[:] = kept


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name bytes by their place: what is compressed holds the time, and workers must agree."""
    return argname if isinstance(val, bytes | bytearray) else None


def pytest_terminal_summary(terminalreporter: "pytest.TerminalReporter") -> None:
    """Print what was seen of the promise of each private trainer."""
    reports = [r for kind in ("passed", "failed") for r in terminalreporter.getreports(kind)]
    seen = [each for r in reports if r.when == "call" for each in r.user_properties]
    replays = [value for name, value in seen if name == "replayed"]
    for trainer in dict.fromkeys(name for name, _, _ in replays):
        own = [(n, loss) for name, n, loss in replays if name == trainer]
        fits = sum(value[1] for name, value in seen if name == "fitted" and value[0] == trainer)
        most, n = max(loss for _, loss in own), sum(n for n, _ in own)
        line = f"{trainer}: at most {most:.3f} of the claim is lost in {n:,} replays"
        failed = f"; {fits:,} fits at budgets of all sizes, and none that fails is let pass"
        terminalreporter.write_line(line + failed * (fits > 0))


@pytest.fixture(scope="session", autouse=True)
def installed_packages_are_searched_once():
    """Every audit asks for the attacks of other packages: ten milliseconds among many packages."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metadata, "entry_points", functools.cache(metadata.entry_points))
        yield


@pytest.fixture
def golden(request: pytest.FixtureRequest):
    """Compare text with a stored file, or store it with --update-golden."""

    def compare(name: str, text: str) -> None:
        path = Path(__file__).parent / "golden" / name
        if request.config.getoption("--update-golden"):
            path.write_text(text, encoding="utf-8")
        stored = path.read_text(encoding="utf-8")
        if text != stored:
            # pytest's own comparison takes minutes on a page of HTML.
            lines = difflib.unified_diff(stored.splitlines(), text.splitlines(), name, "now")
            shown = "\n".join(line[:300] for line in islice(lines, 60))
            pytest.fail(
                f"{shown or 'line ends differ'}\n(see all: --update-golden, git diff)", False
            )

    return compare


def below(value: float) -> float:
    """Return the bound that stands for ``x < value``."""
    return float(np.nextafter(value, -INF))


@pytest.fixture(scope="session")
def figure_3() -> Forest:
    """The tree of Wakabayashi et al. (2024), Figure 3, with the people of Table 4.

    As a reader would return it, which has looked for everything and found nothing.
    """
    tree = Tree(
        parent=[-1, 0, 0, 1, 1, 2, 2],
        feature=[-1, 0, 0, 1, 1, 2, 2],
        low=[-INF, -INF, below(170), -INF, below(60), -INF, below(15)],
        high=[INF, below(170), INF, below(60), INF, below(15), INF],
        n_records=[9, 5, 4, 3, 2, 1, 3],
        counts=[[4, 5], [2, 3], [2, 2], [2, 1], [0, 2], [1, 0], [1, 2]],
    )
    schema = Schema.numeric(["Height", "Weight", "Age"], ["yes", "no"], target="Health")
    return Forest(trees=(tree,), schema=schema, n_records=9, extras=Extras(looked_for=KINDS))


@pytest.fixture(scope="session")
def adult():
    """The Adult data as a frame: five numbers, six one-hot columns, income."""
    pd = pytest.importorskip("pandas")
    folder = os.environ.get("TREEAUDIT_DATA")
    if not folder:
        pytest.skip("TREEAUDIT_DATA does not name a folder with adult.csv.gz")
    frame = pd.read_csv(Path(folder) / "adult.csv.gz")
    numbers = ["age", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
    kinds = ["workclass", "marital-status", "occupation", "relationship", "race", "sex"]
    coded = pd.get_dummies(frame[kinds], dtype=float)
    return pd.concat([frame[numbers], coded], axis=1), frame["income"]


@pytest.fixture(scope="session")
def adult_tree(adult):
    """A depth-7 tree of the first 32,561 records of Adult."""
    from sklearn.tree import DecisionTreeClassifier

    columns, income = adult
    tree = DecisionTreeClassifier(max_depth=7, random_state=0)
    return tree.fit(columns[:32561], income[:32561])


@pytest.fixture(scope="session")
def cancer():
    """A small real table that scikit-learn bundles, with names and string labels."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer(as_frame=True)
    return data.data, data.target.map(dict(enumerate(data.target_names)))


@pytest.fixture(scope="session")
def cancer_tree(cancer):
    """An unlimited tree on the small real table."""
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=0).fit(*cancer)


@pytest.fixture
def cancer_file(cancer_tree, tmp_path) -> Path:
    """The unlimited tree as a pickle."""
    path = tmp_path / "cancer.pkl"
    path.write_bytes(pickle.dumps(cancer_tree))
    return path


@pytest.fixture(scope="module", autouse=True)
def short_reconstruction(request):
    """Half a second for the reconstruction of a forest, but where it is what is tested."""
    from treeaudit.inference.scope import Budget

    with pytest.MonkeyPatch.context() as patch:
        if not any(name in request.node.nodeid for name in ("reconstruction", "tests/inference")):
            patch.setattr(
                "treeaudit.attacks.reconstruction.attack.Budget",
                lambda seconds, cells: Budget(seconds=min(seconds, 0.5), cells=cells // 10),
            )
        yield

"""What those who ask for evidence of anonymity ask, and which kinds of attacks answer.

One line a question, in our own words. Paragraphs of the EDPB's opinion are cited as secondary
texts give them.
"""

from dataclasses import dataclass

from treeaudit.findings.findings import AttackKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One thing that is asked for."""

    source: str  # Where: a text and, where it is known, its paragraph
    name: str
    asks: str
    kinds: tuple[AttackKind, ...] = ()  # Of attacks that answer it
    out_of_scope: str = ""  # Why no attack of treeaudit answers it, and none is missing
    not_tested: str = ""  # Why none answers it, though it could be asked


_EDPB, _WP29, _NIST = "EDPB Opinion 28/2024", "WP29 Opinion 05/2014", "NIST AI 100-2"

QUESTIONS: tuple[Question, ...] = (
    Question(
        source=f"{_EDPB}, paragraph 55 (i)",
        name="Attribute and membership inference",
        asks="Does the model tell a value of a person, or that they were in the training data?",
        kinds=("attribute inference", "membership inference"),
    ),
    Question(
        source=f"{_EDPB}, paragraph 55 (ii)",
        name="Exfiltration",
        asks="Can training data be copied out of the file?",
        kinds=("exfiltration",),
    ),
    Question(
        source=f"{_EDPB}, paragraph 55 (iii)",
        name="Regurgitation of training data",
        asks="Does the model answer with the value of one training person?",
        kinds=("regurgitation",),
    ),
    Question(
        source=f"{_EDPB}, paragraph 55 (iv)",
        name="Model inversion",
        asks="Does what the model says lead back to an input of a person?",
        kinds=("model inversion",),
    ),
    Question(
        source=f"{_EDPB}, paragraph 55 (v)",
        name="Reconstruction",
        asks="Can records of the training table be put together again?",
        kinds=("reconstruction",),
    ),
    Question(
        source=f"{_EDPB}, paragraph 43",
        name="From queries alone",
        asks="What can somebody do who only asks the model, and does not have its file?",
        not_tested="no attacker who only asks was tried: every attack here holds the file, which "
        "tells all that answers tell, and more",
    ),
    Question(
        source=_WP29,
        name="Singling out",
        asks="Can one person be isolated?",
        kinds=("singling out",),
    ),
    Question(
        source=_WP29,
        name="Linkability",
        asks="Can records about one person be linked: those of the trees, of two models, of two "
        "releases?",
        kinds=("linkability",),
    ),
    Question(
        source=_WP29,
        name="Inference",
        asks="Can the value of an attribute be deduced?",
        kinds=("attribute inference",),
    ),
    Question(
        source=_NIST,
        name="Data reconstruction",
        asks="Can training records be recovered?",
        kinds=("reconstruction", "exfiltration"),
    ),
    Question(
        source=_NIST,
        name="Membership inference",
        asks="Can it be told who was in the training data?",
        kinds=("membership inference",),
    ),
    Question(
        source=_NIST,
        name="Property inference",
        asks="Does the model tell properties of the training data as a whole?",
        out_of_scope="it is about the data as a whole and no person in it; the leaves of a tree "
        "publish such properties by design",
    ),
    Question(
        source=_NIST,
        name="Model extraction",
        asks="Can the model be copied through its answers?",
        out_of_scope="whoever is attacked here has given the file away: nothing is left to extract",
    ),
)

"""The verbs of the command line: what each calls, and the options that its help shows first.

Options, their types, choices, defaults and texts come from the signatures and docstrings of the
functions that a verb calls, by way of `options.json`, which `python -m fastfair.cli.signatures`
writes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("options.json")
# of functions, their parameters, and what options these are
Table = Mapping[str, Mapping[str, Mapping[str, Any]]]


@dataclass(frozen=True)
class Option:
    """An option.

    Attributes
    ----------
    name : str
        The name of the parameter.
    text : str
        Its help; the first sentence stands in `--help`.
    type : str
        A key of `commands.TYPES`, "choice", "flag" or "switch", which has a --no-; by default text,
        or "column" for those of `COLUMNS`.
    choices : sequence of str
        What it may be.
    default : any
        The default of the function, which help shows; the function itself sets it.
    multiple, required : bool
        Whether it may be repeated, and whether it must be given.
    flag : str
        How it is written, where not as the parameter.
    section : str
        The section of the help.
    record : str
        "module:class" of the record that numbers with commas between them make.
    like : str
        "function.parameter" whose type, choices and text it has, too.
    """

    name: str
    text: str = ""
    type: str = ""
    choices: Sequence[str] = ()
    default: Any = None
    multiple: bool = False
    required: bool = False
    flag: str = ""
    section: str = ""
    record: str = ""
    like: str = ""


@dataclass(frozen=True)
class Verb:
    """A verb.

    Attributes
    ----------
    help : str
        The first lines of its help; the list of verbs has the first sentence.
    examples : str
        Command lines.
    first : str
        The options that `--help` shows; `--help-all` has all.
    calls, reads : str
        Functions of which all parameters are options: what is computed, and how files are read.
    arguments : str
        Names of arguments; "name..." takes all that are left, and "statement" is no file.
    options : sequence of Option
        Options that no function has, or that differ from those of the functions.
    without : str
        Parameters that are no options.
    writes : str
        Which options of `OUTPUT` it has.
    flags : mapping
        Flags that differ from those of other verbs.
    asks : bool
        Whether what the functions need is required at once; else the verb itself says what is
        missing.
    chapter : str
        The file of `actions` with its function.
    """

    help: str
    examples: str
    first: str
    calls: str = ""
    reads: str = ""
    arguments: str = "scores"
    options: Sequence[Option] = ()
    without: str = ""
    writes: str = "as_json output plots report tables"
    flags: Mapping[str, str] = field(default_factory=dict)
    asks: bool = True
    chapter: str = "single_calls"


SECTIONS = ("Input", "Vectors", "Groups", "What is computed", "Intervals", "Output")
_OF_SECTION = {
    "Groups": (
        "groups group bands reference_group probe_group by incomplete_groups missing_labels"
        " baseline linear spline"
    ),
    "Intervals": (
        """n_resamples quick unit confidence_level scheme method alternative simultaneous quantile center rng
        n_simulations weighting"""
    ),
    "Output": "n_threads progress folder",
}
SECTION_OF = {name: section for section, names in _OF_SECTION.items() for name in names.split()}
# Texts that are names of columns of a table, or of arrays of a file.
COLUMNS = """score second_score search_id candidate candidate_rank gallery_id gallery_subject mated
    reference probe keep metadata_id metadata_subject vectors name subject other_subject other_groups role
    template groups group reference_group probe_group by quality reference_quality probe_quality failures attempts
    failed failed_value fmr fnmr fmr_global fnmr_global transaction session
    attack""".split()  # noqa: SIM905 - shorter
FLAGS = {
    "as_json": "json", "rng": "seed", "groups": "group", "measures": "measure", "requirements": "require",
    "applications": "application", "kind": "input", "name": "vector-name", "n_subjects": "subjects",
    "n_groups": "groups", "n_attempts": "attempts", "n_partners": "partners", "n_folds": "folds", "suffix": "format",
    "n_sessions": "sessions", "folder": "checkpoint", "enrolled": "gallery", "gallery": "for-gallery",
    "other_groups": "other-group",
}  # fmt: skip
OUTPUT = (
    Option("as_json", "Print JSON instead of tables.", "flag"),
    Option(
        "output",
        "Folder to write the results to, as JSON and CSV, and these options as config.toml.",
        "folder",
    ),
    Option(
        "plots",
        "With --output: draw the results as well; PDF and SVG for papers, PNG for screens.",
        "choice",
        ("pdf", "svg", "png"),
        multiple=True,
    ),
    Option(
        "report",
        "Write one page with everything: plots, tables and numbers, as .html or .pdf.",
        "path",
    ),
    Option("title", "With --report: the title of the page."),
    Option(
        "tables",
        "Write the tables of the page to one file: .xlsx, .docx, .tex, .html, .md or .csv.",
        "path",
    ),
    Option(
        "config",
        "File of options (TOML), such as the config.toml that --output writes. Options given here"
        " count before those of the file.",
        "path",
    ),
)
_SIDES = (
    Option("reference_group", "Column with an attribute of the references; give --probe-group too. Repeat for "
           "intersections.", multiple=True),
    Option("probe_group", "Column with the same attribute of the probes, in the order of --reference-group.",
           multiple=True),
)  # fmt: skip
_SCORES, _VECTORS = "read_comparisons read_named_vectors", "read_embeddings"
_COUNTS = " read_failure_counts"


def _kinds(*others: str) -> Option:
    """Return the option that says what files hold, where counts are among it."""
    text = (
        "What files hold. Scores, or lists of trials to score with --embeddings; "
        + "vectors, as `fastfair embeddings` reads them, every two of which are compared; "
        * bool(others)
        + "failures and attempts with one row for each subject (counts), or decisions with one row"
        ' for each attempt. Counts may stand in place of the file, as in "5 of 174"; several --group of'
        " counts make intersections alone."
    )
    choices = ("scores", *others, "counts", "decisions")
    return Option("kind", text, "choice", choices, "scores", section="Input")


_ATTEMPTS = Option(
    "attempts",
    "Counts: column of attempts, by default attempts. Scores: how many consecutive attempts of a"
    " subject against a reference make a transaction.",
    section="Input",
)
_FAILURES = Option(
    "failures",
    "Counts: column of failed attempts, by default failures. Scores: what to do with comparisons that"
    " failed, error, exclude or non-match.",
    section="Input",
)
_SUBJECT = Option(
    "subject",
    "Counts and decisions: column of whose attempts these are. Vectors: array or column of subjects or"
    " paths.",
    section="Input",
)
_PILOT = Option(
    "pilot",
    "Failure counts of a pilot, with columns attempts and failures. Subjects have so many attempts as"
    " these, in place of --attempts.",
    "path",
    section="Input",
)
_OF_COUNTS = (
    _ATTEMPTS, _FAILURES, _SUBJECT,
    Option("rate", "Counts and decisions: the rate that failures are counted for, by default that which is named "
           "elsewhere, or fnmr.", "choice",
           ("fnmr", "fmr", "frr", "far", "fta", "fte", "fnir", "fpir", "apcer", "bpcer", "iapar"), section="Input"),
    Option("other_groups", "Of fmr and far: columns with the groups of --other-subject.", multiple=True,
           section="Input"),
)  # fmt: skip
_REPLICATES = Option(
    "n_resamples", "Number of replicates, at least 2.", "integer", default=2000, section="Intervals"
)
_QUICK = Option(
    "quick", "No replicates: intervals of rates alone, in closed form.", "flag", section="Intervals"
)
_INTERSECTIONS = Option(
    "intersections",
    "Evaluate the intersections of all attributes, too. Without it each attribute is evaluated on"
    " its own.",
    "flag",
    section="Groups",
)
_JUNIT = Option("junit", "Write the verdicts as JUnit XML, too.", "path", section="Output")


def _required(example: str) -> Option:
    text = f'What must hold, as "{example}", of each group. See `fastfair check`.'
    return Option("requirements", text, multiple=True)


_EVALUATED = (_INTERSECTIONS, _QUICK, _required('fnmr@fmr=0.001 <= 0.05" or "fnmr[*] <= 5 %'))
_PAGE = "as_json output plots report title tables"

VERBS: dict[str, Verb] = {
    "evaluate": Verb(
        "Evaluate scores: error rates of groups, fairness, intervals.",
        """fastfair evaluate scores.csv --group sex --group age --at fmr=0.001 --report report.html
        fastfair evaluate scores.csv --attempts 3 --group sex --at threshold=0.6 --require "frr[*] <= 5 %"
        fastfair evaluate trials.txt --embeddings voices.npz --metadata speakers.csv --metadata-id id --group sex
        fastfair evaluate faces.npz --input vectors --group sex
        fastfair evaluate counts.csv --input counts --rate frr --group sex""",
        "metadata metadata_id groups intersections at measures n_resamples rng output report",
        "evaluate", f"{_SCORES} {_VECTORS}{_COUNTS}",
        options=(_kinds("vectors"), *_OF_COUNTS, *_SIDES, *_EVALUATED), writes=_PAGE, chapter="evaluate",
    ),
    "compare": Verb(
        "Compare systems, or independent data sets. They are in the files FIRST, SECOND and OTHERS, and are called as "
        "these are without suffix, or by --name; more than two are ranked. Exit codes are those of `fastfair check`.",
        """fastfair compare first.csv second.csv --group sex --at fmr=0.001
        fastfair compare old.csv new.csv small.csv --baseline old --report report.html
        fastfair compare june.csv may.csv --unpaired --at fmr=0.001 --require "fnmr(june) - fnmr(may) <= 1 %"
        fastfair compare june.csv may.csv --unpaired --input counts --require "difference(frr) <= 1 %\"""",
        "groups at unpaired common system_names requirements baseline rng output report",
        "compare evaluate", f"{_SCORES} {_VECTORS}{_COUNTS}", "first second others...",
        (
            _kinds("vectors"), *_OF_COUNTS, *_SIDES, _QUICK,
            Option("unpaired", "Compare data sets of other comparisons, such as two months, as independent ones.",
                   "flag"),
            Option("common", "Compare the comparisons that all systems have, and count the others.", "flag"),
            Option("system_names", "What the system of a file is called, in their order.", multiple=True),
            Option("requirements", 'What must hold, as "fnmr(new) - fnmr(old) <= 1 %" or "difference(fnmr)[*] <= 1 %", '
                   'in percentage points. See `fastfair check`.', multiple=True),
            Option("allow_undecided", like="check.allow_undecided"),
            _JUNIT,
            Option("second_score", "Column of SECOND's scores, if it differs from --score."),
            Option("second_score_kind", "Kind of SECOND's scores, if it differs from --score-kind.",
                   like="read_comparisons.score_kind"),
            Option("second_embeddings", "Vectors of the second system, if --embeddings has those of the first.",
                   "path"),
        ),
        "alternative simultaneous paired", _PAGE, {"system_names": "name"}, chapter="compare",
    ),
    "check": Verb(
        "Pass or fail requirements, by confidence limits; for CI. Exit codes: 0 if all are met, 1 if one is not, 3 "
        "if undecided, 2 for wrong options and files.",
        """fastfair check scores.csv --require "fnmr@fmr=0.001 <= 0.05" --require "fnmr[*] <= 8 %" --group sex
        fastfair check counts.csv --input counts --require "frr[*] <= 5 %" --group sex
        fastfair check scores.csv --profile common-criteria --at threshold=0.62 --group age --report page.html
        fastfair check scores.csv --require "fnmr <= 5 %" --looks 3/12 --previous february/check.json --output march""",
        "requirements profile groups at looks rng output report junit",
        "check", _SCORES + _COUNTS,
        options=(
            _kinds(),
            *_OF_COUNTS,
            *_SIDES,
            Option("previous", like="check.previous", section="Input"),
            Option("worst", "List so many of the worst comparisons behind each rate that is not met or undecided.",
                   "integer", section="Output"),
            _JUNIT,
        ),
        without="method scheme simultaneous incomplete_groups", chapter="check",
    ),
    "history": Verb(
        "Put checks beside each other: rates, limits, verdicts. RESULTS are the JSON of "
        "`fastfair check`, in the order of the looks.",
        """fastfair history january/check.json february/check.json march/check.json
        fastfair history january/check.json february/check.json --report looks.html""",
        "output plots report",
        "history", "", "results...", without="results", chapter="check",
    ),
    "apply": Verb(
        "Apply a threshold that development data give. Its uncertainty is kept.",
        """fastfair apply scores.csv --development dev.csv --at fmr=0.001 --group sex
        fastfair apply scores.csv --development dev.csv --at eer --output results --plots pdf""",
        "development metadata metadata_id groups at confidence_level output plots report",
        "apply_threshold", _SCORES,
        options=(
            *_SIDES,
            Option("development", "Score file of the development data, on which the threshold is found; read as SCORES "
                   "is.", "path", required=True, section="Input"),
        ),
    ),
    "calibration": Verb(
        "Tell what decisions by log-likelihood ratios cost.",
        """fastfair calibration ratios.csv --score-kind log-likelihood-ratio --application 0.05,1,10
        fastfair calibration scores.csv --calibrate logistic --group sex --report calibration.html""",
        "score_kind groups applications method n_resamples rng output plots report",
        "evaluate_calibration calibrate", _SCORES,
        options=(
            *_SIDES,
            Option("method", "Make log-likelihood ratios of the scores first, trained on other subjects.",
                   like="calibrate.method", section="What is computed"),
        ),
        flags={"method": "calibrate", "p_target": "training-prior"},
    ),
    "claim": Verb(
        'Judge whether scores support a claim such as "fmr <= 1e-4".',
        """fastfair claim scores.csv "fmr <= 1e-4" --at threshold=0.62
        fastfair claim scores.csv "fnmr <= 2 %" --at fmr=0.001 --group sex --output results --plots pdf
        fastfair claim "5 of 174" "frr <= 6 %" --json""",
        "metadata metadata_id groups at kind unit confidence_level rng output report",
        "claim", f"{_SCORES} {_VECTORS}{_COUNTS}", "scores statement",
        (_kinds("vectors"), *_OF_COUNTS, *_SIDES), "statement",
    ),
    "discard": Verb(
        "Tell what an error rate becomes when low quality is discarded. It also tells whose comparisons these are.",
        """fastfair discard scores.csv --at fmr=0.001 --quality quality --group sex
        fastfair discard scores.csv --at threshold=0.6 --reference-quality q1 --probe-quality q2 --output results""",
        "quality quality_table reference_quality probe_quality groups at rate fractions output report",
        "discard_curve", _SCORES,
        options=(
            *_SIDES,
            Option("quality", "Column with the quality of the comparison, or what the names of two columns share, as "
                   "reference_quality and probe_quality do.", section="Input"),
            Option("reference_quality", "Column with the quality of the references.", section="Input"),
            Option("probe_quality", "Column with the quality of the probes.", section="Input"),
            Option("quality_table", "Table with one row for each sample, its id first, and the column --quality, as "
                   "OFIQ and NFIQ 2 write it.", "path", section="Input"),
        ),
    ),
    "embeddings": Verb(
        "Measure vectors: FNMR and fairness over FMR. `fastfair evaluate --input vectors` tells the rates of "
        "groups.",
        """fastfair embeddings faces.npz --group sex --output results --plots png --report report.html
        fastfair embeddings faces.npy --samples images.csv --subject file --subject-pattern '^([^/]+)/'""",
        "samples subject subject_pattern groups fmr measures n_resamples rng output report",
        "bands.curve.bands_of roc_band", _VECTORS, "path",
        (
            Option("fmr", "False match rates at which to measure, as in 0.001,0.01. By default those of 0.0001, 0.001 "
                   "and 0.01 that are at least 30 false matches.", "numbers", multiple=True),
            replace(_REPLICATES, default=1000),
            Option("unit", choices=("sample", "subject", "subject+sample"), like="roc_band.unit", section="Intervals"),
        ),
        "group scheme", flags={"samples": "samples"}, chapter="embeddings",
    ),
    "group-test": Verb(
        "Test whether error rates of groups differ by more than chance. The margin of error is told, too.",
        """fastfair group-test scores.csv --group sex --at fmr=0.001
        fastfair group-test counts.csv --input counts --group sex --output results --plots pdf""",
        "kind groups at rate statistic n_resamples confidence_level rng output plots",
        "fnmr_test margin_of_error", f"{_SCORES} {_VECTORS}{_COUNTS}", "data",
        (
            Option("kind", "What DATA is. Scores as `evaluate` reads them; vectors, every two of which are compared; a "
                   "table of failures and attempts with one row for each subject (counts); or a table with one row for "
                   "each attempt (decisions): to be recognised, or, with --rate fta or fte, to have a sample acquired "
                   "or to be enrolled.", "choice", ("scores", "vectors", "counts", "decisions"), "scores",
                   section="Input"),
            *_SIDES,
            _FAILURES,
            _ATTEMPTS,
            _SUBJECT,
            Option("rate", "Error rates to test, by default both of scores and vectors. Of counts and decisions fnmr, "
                   "or another rate of one person's attempts.", "choice",
                   ("fnmr", "fmr", "both", "frr", "fta", "fte", "fnir", "fpir", "apcer", "bpcer", "iapar")),
            Option("fmr_statistic", like="fmr_test.statistic", default="deviance"),
        ),
        "follow_up", chapter="group_test",
    ),
    "identify": Verb(
        "Tell how often searches of a gallery are wrong: one to many. PATH has a row for each candidate, or a matrix "
        "of scores, or vectors with --role. Exit codes of --require are those of `fastfair check`.",
        """fastfair identify log.csv --searches searches.csv --gallery gallery.csv --group sex --at fpir=0.01
        fastfair identify log.csv --gallery gallery.csv --group sex --at threshold=0.58 --require "fpir[*] <= 0.1 %"
        fastfair identify june.csv --against may.csv --gallery gallery.csv --unpaired --at threshold=0.58
        fastfair identify faces.npz --role role --at rank=1 --group sex --sizes 100 --report report.html""",
        "search_id probe searches enrolled groups at requirements gallery output report",
        "identify", "read_searches read_embeddings", "path",
        (
            Option("kind", "What PATH holds; by default vectors where --role is given, else searches.", "choice",
                   ("searches", "vectors"), section="Input"),
            Option("at", "Operating point: fpir=0.01, fnir=0.05, threshold=0.6 or rank=1.", "point", multiple=True,
                   required=True),
            Option("groups", "Column with an attribute that makes the groups of probes: of --searches if given, else "
                   "of PATH; of vectors, of --metadata if given.", multiple=True),
            Option("templates", "What several templates of a person in the gallery are: an error, or one enrolment "
                   "whose score is the best of them.", "choice", ("refuse", "best"), "refuse", section="Input"),
            Option("subject_pattern", like="read_searches.subject_pattern", section="Input"),
            Option("failures", "What to do with searches and vectors that failed, and with missing scores of "
                   "candidates: raise an error, leave such searches out, with a warning, and count them (exclude), or "
                   "count them as misses at every rank and threshold (non-match).", like="read_searches.failures",
                   section="Input"),
            Option("missing_labels", "What to do with searches and vectors that lack a label of a group: raise an "
                   "error, leave them out, with a warning that counts them, or take \"unknown\" for it.",
                   like="read_searches.missing_labels"),
            Option("similarity", "The score of two vectors.", "choice", ("cosine", "inner_product"), "cosine",
                   section="Vectors"),
            Option("candidates", "How many of the best other people are kept of each search: by default 20 of a matrix "
                   "or of vectors, and all of lists. Rates in smaller galleries need all at or above the threshold. "
                   "With a number, Parquet of lists is read part by part, so that it may be larger than memory.",
                   "integer"),
            Option("sizes", "Numbers of enrolled people, at most as many as there are, for the rates expected in "
                   "galleries of so many of them.", "integer", multiple=True),
            Option("measures", 'Measures of how fair FPIR and FNIR are: "gini", "std", "max_min_ratio", '
                   '"max_geomean_ratio" or "log_geomean_sum".', multiple=True),
            _required("fpir[*]@threshold=0.6 <= 0.1 %"),
            Option("allow_undecided", like="check.allow_undecided"),
            Option("returned", "Tell as well how often enrolled people of each group are wrongly returned; where "
                   "files hold searches, --gallery has the columns of --group, too.", "flag"),
            Option("n_threads", like="evaluate.n_threads"),
            _JUNIT,
            Option("against", "Searches to compare these with, read as PATH is: those of another system for the same "
                   "people, or with --unpaired those of other people or times. Requirements are then on "
                   "\"difference(fpir)\" and \"difference(fnir)\".", "path", section="Input"),
            Option("against_searches", "The table of searches of --against, if it is not --searches.", "path",
                   section="Input"),
            Option("against_gallery", "The table of the gallery of --against, if it is not --gallery.", "path",
                   section="Input"),
            Option("own_thresholds", "Tell as well what rates of groups would be at thresholds of their own, which "
                   "hold the rate of --at in each.", "flag"),
            Option("unpaired", "With --against: the searches are others, such as those of two months, and are compared "
                   "as independent ones.", "flag"),
        ),
        "returned_group label_conflicts", chapter="identify",
    ),
    "measures": Verb(
        "Compute all fairness measures of a table of error rates.",
        """fastfair measures published.csv --fmr-column 'FMR.{group}' --fnmr-column 'FNMR.{group}' --by Algorithm
        fastfair measures table.csv --fmr-column fmr --fnmr-column fnmr --by system --group nationality --percent""",
        "fmr fnmr by group fmr_global fnmr_global percent alpha as_json output",
        "measures.table", "", "rates", writes="as_json output",
        flags={"fmr": "fmr-column", "fnmr": "fnmr-column", "group": "group"}, chapter="measures",
    ),
    "model": Verb(
        "Tell what each attribute does to errors, others held fixed.",
        """fastfair model scores.csv --at fmr=0.001 --group sex --group age
        fastfair model scores.csv --at threshold=0.6 --group sex --group age --baseline sex=m --output results
        fastfair model scores.csv --at fmr=0.001 --group sex --linear age=mean --spline age=difference""",
        "metadata metadata_id groups baseline linear spline at rate output",
        "error_model", _SCORES, options=_SIDES, without="attributes",
    ),
    "plan": Verb(
        "Plan a study of rates of groups: margins, power, subjects. The command `fmr` plans one that is "
        "to support a claimed FMR. Of several numbers with commas between them every combination is planned.",
        """fastfair plan --groups 3,10 --subjects 100,400 --attempts 2 --fnmr 0.05 --correlation 0.25
        fastfair plan --groups 10 --attempts 2 --apcer 0.05 --correlation 0.25 --difference 0.05 --power 0.8
        fastfair plan --groups 10 --pilot counts.csv --fnmr 0.05 --correlation 0.25 --margin 0.03""",
        "n_groups n_subjects n_attempts fnmr correlation margin difference power pilot output",
        "plan_subjects plan_margin", "", "",
        (
            Option("n_subjects", "Subjects in each group; without them, the plan computes them.", "numbers"),
            Option("n_attempts", "Number of mated comparisons of each subject, if it is the same for all.", "numbers"),
            *(Option(name, f"True {name.upper()} of every group, in place of --fnmr{also}.", "numbers")
              for name, also in {"frr": "", "fta": ", or beside it for the FRR of one attempt", "fte": "", "fnir": "",
                                 "fpir": "", "apcer": "", "bpcer": "", "iapar": ""}.items()),
            Option("assurance", "Share of studies that are to stay within the margin of error. By default 0.8 with "
                   "--margin; without it, the margin is that for a known FNMR.", "numbers"),
            Option("power", "How often the test should find --difference; the plan computes the subjects. By default "
                   "0.8.", "numbers"),
            _PILOT,
            Option("method", "Compute margins of error exactly, or from simulated studies as the paper does. By "
                   "default exactly, but by simulation with --pilot and --assurance.", like="plan_margin.method",
                   section="Intervals"),
            Option("n_simulations", "Simulated studies for each setting, by default 1000 for margins of error, else "
                   "2000.", "integer", section="Intervals"),
        ),
        asks=False, chapter="plan",
    ),
    "plan fmr": Verb(
        "Plan how many subjects support a claimed FMR.",
        """fastfair plan fmr --claimed 1e-4 --fmr 5e-5 --covariance 1.2
        fastfair plan fmr --claimed 1e-4 --pilot scores.csv --at threshold=0.6 --partners 50""",
        "claimed fmr covariance pilot at n_partners n_samples assurance rng output",
        "plan_fmr", _SCORES, "",
        (*_SIDES, Option("pilot", "Scores of a pilot.", "path", section="Input"),
         Option("progress", like="evaluate.progress"), Option("n_threads", like="evaluate.n_threads")),
        flags={"n_samples": "samples"}, chapter="plan",
    ),
    "plan requirement": Verb(
        "Plan how many subjects meet a requirement. It is on a rate of one person's attempts.",
        """fastfair plan requirement "frr[*] <= 8 %" --groups 2 --subjects 50,100,300 --attempts 5 --rate 0.05
        fastfair plan requirement "apcer[*] <= 7 %" --subjects 100,400 --attempts 1 --rate 0.01,0.02,0.04
        fastfair plan requirement "frr <= 8 %" --sessions 9,40 --subjects 99 --rate 0.05 --pilot p.csv --session day
        fastfair plan requirement "max_min_ratio(fnmr) <= 1.5" --groups 4 --subjects 99,400 --attempts 9 --rate 0.07""",
        "n_groups n_subjects n_attempts rate correlation n_sessions pilot assurance rng output",
        "plan_requirement", "", "statement",
        (
            Option("n_attempts", "Number of attempts of each subject, if it is the same for all.", "integer"),
            _PILOT,
            Option("subject", "Of a pilot: column of the subject, who may be in several rows.", section="Input"),
            Option("session", "Of a pilot: column of what people share, such as a day.", section="Input"),
        ),
        "requirement", chapter="plan",
    ),
    "shrink": Verb(
        "Estimate rates of small groups with the help of the others.",
        """fastfair shrink scores.csv --at fmr=0.001 --group nationality
        fastfair shrink scores.csv --at threshold=0.6 --group nationality --rate fmr --output results --plots pdf""",
        "metadata metadata_id groups at rate n_resamples confidence_level rng output plots",
        "shrunken_rates", _SCORES,
        options=(
            *_SIDES,
            Option("at", "Operating point: threshold=0.4, fmr=0.001, fnmr=0.05, eer or mean-group-eer.", "point",
                   required=True),
            _REPLICATES,
            *(Option(name, like=f"evaluate.{name}") for name in ("confidence_level", "rng", "n_threads", "progress")),
        ),
    ),
    "strata": Verb(
        "Compare rates by one attribute within strata of others.",
        """fastfair strata scores.csv --at fmr=0.001 --group sex --group age --by sex
        fastfair strata scores.csv --at fmr=0.001 --group sex --group age --by sex --output results --plots pdf""",
        "metadata metadata_id groups by at rate confidence_level output plots",
        "stratified_rates", _SCORES, options=_SIDES, without="strata",
    ),
    "synthesize": Verb(
        "Make scores with given error rates, or of a biased system. With --output: groups.csv and overall.csv of a "
        "system, or scores.csv of a set, and measures.csv. Scores are distances.",
        """fastfair synthesize --ratios 1:1:3:5 --output system
        fastfair synthesize --fmr 0.01 --n-nonmated 30000 --format parquet --output set""",
        "ratios fmr fnmr at n_mated n_nonmated rng output",
        "biased_system synthesize", "", "",
        (
            Option("ratios", "Make a system whose groups have error rates in these ratios, as in 1:1:3:5."),
            Option("fmr", "Make one set with this FMR where the TMR is --at.", "number"),
            Option("fnmr", "Make one set with this FNMR where the TNMR is --at.", "number"),
            Option("at", "TMR (for --fmr) or TNMR (for --fnmr) of a set, or of groups.", "number", default=0.95),
            Option("suffix", "Format of score files.", "choice", ("csv", "tsv", "parquet"), "csv", section="Output"),
        ),
        "tmr tnmr step accept stop group", "as_json output", {"kind": "kind"}, asks=False, chapter="synthesize",
    ),
    "demo": Verb(
        "Evaluate real data: VoxCeleb1-H, 550,894 trials. A page about them is written: report.html.",
        """fastfair demo
        fastfair demo --system resnetse34l --at fmr=0.01 --report other.html""",
        "system at measures requirements n_resamples rng output report title",
        "evaluate datasets.voxceleb1_h", "", "", _EVALUATED, "groups", _PAGE, chapter="evaluate",
    ),
    "warm-up": Verb(
        "Compile all kernels now, so that no later run has to.",
        """fastfair warm-up
        fastfair warm-up --n-processes 2 --no-progress""",
        "n_processes progress",
        "warm_up", "", "", writes="",
    ),
}  # fmt: skip


@cache
def table() -> Table:
    """Read the options of functions."""
    content: Table = json.loads(TABLE.read_text("utf-8"))
    return content


def options_of(verb: Verb, of_functions: Table) -> list[Option]:
    """Return the options of a verb: its own, those of the functions, and what all have, by
    section.
    """
    options: dict[str, Option] = {}
    for option in verb.options:
        function, _, parameter = option.like.rpartition(".")
        like = of_functions[function][parameter] if option.like else {}
        given = {name: value for name, value in vars(option).items() if value or name not in like}
        options[option.name] = Option(**{**like, **given})
    for section, functions in (("Input", verb.reads), ("What is computed", verb.calls)):
        for function in functions.split():
            for name, facts in of_functions[function].items():
                if name not in options and name not in verb.without.split():
                    usual_section = (
                        "Vectors"
                        if function in ("read_named_vectors", "read_embeddings")
                        else section
                    )
                    options[name] = Option(
                        name=name, section=SECTION_OF.get(name, usual_section), **facts
                    )
    options |= {
        option.name: option for option in OUTPUT if option.name in (*verb.writes.split(), "config")
    }
    of_samples = {"samples": "vector-table"} if "read_named_vectors" in verb.reads else {}
    flags = FLAGS | of_samples | dict(verb.flags)
    return sorted(
        (
            replace(
                option,
                type=(
                    "column"
                    if option.type in ("", "text") and option.name in COLUMNS
                    else option.type or "text"
                ),
                required=option.required and verb.asks,
                flag=f"--{flags.get(option.name, option.name).replace('_', '-')}",
                section=option.section
                or (
                    "Output"
                    if option in OUTPUT
                    else SECTION_OF.get(option.name, "What is computed")
                ),
            )
            for option in options.values()
        ),
        key=lambda option: SECTIONS.index(option.section),
    )

"""`claim` and `check`: do the data show that error rates, costs and fairness measures are as they
should be?
"""

from .families import Attributes
from .gate import Check, CheckedQuantity, check, check_evaluations, judged_check
from .history import History, PastQuantity, history
from .looks import JudgedUnits, Look
from .requirements import Requirement, number_of, read_requirement, read_statement, requirements_of
from .statement import Claim, ClaimedRate, claim, independent_limit
from .verdicts import CONTRADICTED, MET, NOT_MET, SUPPORTED, UNDECIDED, Estimates

__all__ = [
    "CONTRADICTED",
    "MET",
    "NOT_MET",
    "SUPPORTED",
    "UNDECIDED",
    "Attributes",
    "Check",
    "CheckedQuantity",
    "Claim",
    "ClaimedRate",
    "Estimates",
    "History",
    "JudgedUnits",
    "Look",
    "PastQuantity",
    "Requirement",
    "check",
    "check_evaluations",
    "claim",
    "history",
    "independent_limit",
    "judged_check",
    "number_of",
    "read_requirement",
    "read_statement",
    "requirements_of",
]

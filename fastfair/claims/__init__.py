"""`claim` and `check`: do the data show that error rates, costs and fairness measures are as they
should be?
"""

from .attacks import ALL_OF_ATTACKS
from .families import Attributes
from .gate import check, check_evaluations, judged_check
from .history import History, PastQuantity, history
from .looks import JudgedUnits, Look
from .profile import Profile, read_profile, shipped_profiles
from .profile_check import ClauseResult, ProfileCheck
from .requirements import (
    Requirement,
    measures_in,
    number_of,
    points_in,
    read_requirement,
    read_statement,
    requirements_of,
)
from .result import Check, CheckedQuantity
from .statement import Claim, ClaimedRate, claim, independent_limit
from .verdicts import CONTRADICTED, MET, NOT_MET, SUPPORTED, UNDECIDED, Estimates

__all__ = [
    "ALL_OF_ATTACKS",
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
    "ClauseResult",
    "Estimates",
    "History",
    "JudgedUnits",
    "Look",
    "PastQuantity",
    "Profile",
    "ProfileCheck",
    "Requirement",
    "check",
    "check_evaluations",
    "claim",
    "history",
    "independent_limit",
    "judged_check",
    "measures_in",
    "number_of",
    "points_in",
    "read_profile",
    "read_requirement",
    "read_statement",
    "requirements_of",
    "shipped_profiles",
]

"""What paper 1 prints in its tables II to VIII, digit by digit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

# The measures of tables IV to VIII in the order of their columns: named as in an evaluation, and as
# on the page.
COLUMNS = {
    "inequity_rate": "IR",
    "garbe": "GARBE",
    "fdr": "FDR",
    "std(eer)": "STD of EER",
    "sed_std": "STD of SED",
    "sed_mean": "mean SED",
}
# Table II: increase factors of the FMR at a TMR of 0.95, in units of 0.001, and comparisons of
# either class in a set.
FACTORS = (1, 2, 3, 5, 10, 20, 50)
SET_SIZE = 3000
# The overall set: table III prints one size, section IV-A another, both with this FMR at a TMR of
# 0.95.
OVERALL_FMR = 1e-4
OVERALL_NONMATED = {"Table III": 24_000, "section IV-A": 600_000}

# Table, ratios, and the columns as printed.
_TABLES_IV_TO_VIII = """\
IV 1:1:1:1 1.0 0.0000 1.00 0.00 0.00 0.24
IV 1:1:1:2 1.33 0.0090 0.9990 8.66e-4 0.17 0.32
IV 1:1:1:3 3.63 0.0397 0.9958 1.29e-3 0.28 0.85
IV 1:1:1:5 13.62 0.0758 0.9923 3.96e-3 0.75 1.26
IV 1:1:1:10 22.40 0.0891 0.9890 4.69e-3 0.91 1.30
IV 1:1:1:20 87.54 0.1170 0.9821 6.92e-3 1.32 1.56
IV 1:1:1:50 368.7 0.1427 0.9693 1.54e-2 2.99 2.55
V 1:1:2:2 1.33 0.0120 0.9990 9.99e-4 0.20 0.37
V 1:1:2:3 3.63 0.0428 0.9958 1.78e-3 0.35 0.81
V 1:1:2:5 13.62 0.0793 0.9923 4.33e-3 0.82 1.15
V 1:1:3:3 3.63 0.0530 0.9958 1.50e-3 0.38 1.05
V 1:1:3:5 13.62 0.0905 0.9923 3.74e-3 0.70 1.32
V 1:1:5:5 13.62 0.1011 0.9923 4.58e-3 0.86 1.68
VI 1:2:2:2 1.33 0.0090 0.9990 8.66e-4 0.16 0.46
VI 1:2:2:3 3.63 0.0399 0.9958 0.0399 0.39 0.69
VI 1:2:2:5 13.62 0.0767 0.9920 0.0767 0.85 0.98
VI 1:3:3:2 3.63 0.0502 0.9958 2.12e-3 0.43 0.94
VI 1:3:3:3 3.63 0.0397 0.9958 1.29e-3 0.37 1.23
VI 1:3:3:5 13.62 0.0786 0.9923 3.33e-3 0.58 1.41
VI 1:5:5:2 13.62 0.0990 0.9923 5.13e-3 0.95 1.50
VI 1:5:5:3 13.62 0.0906 0.9923 3.97e-3 0.73 1.70
VI 1:5:5:5 13.62 0.0758 0.9923 3.96e-3 0.73 2.02
VII 2:2:2:2 1.00 0.0000 1.00 0.00 0.00 0.49
VII 2:2:2:3 2.72 0.0310 0.9968 2.16e-3 0.44 0.70
VII 2:2:2:5 10.20 0.0682 0.9933 4.83e-3 0.92 0.93
VII 2:2:3:3 2.72 0.0413 0.9968 2.50e-3 0.46 0.97
VII 2:2:3:5 10.20 0.0795 0.9933 4.59e-3 0.83 1.24
VII 2:2:5:5 10.20 0.0909 0.9933 5.58e-3 1.07 1.46
VII 2:3:3:3 2.72 0.0310 0.9968 2.16e-3 0.48 1.29
VII 2:3:3:5 10.20 0.0702 0.9933 3.95e-3 0.65 1.43
VII 2:3:5:5 10.20 0.0826 0.9933 4.68e-3 0.82 1.69
VII 2:5:5:5 10.20 0.0682 0.9933 4.83e-3 0.92 2.00
VII 3:3:3:3 1.00 0.0000 1.00 0.00 0.00 1.77
VII 3:3:3:5 3.74 0.0402 0.9965 2.67e-3 0.35 1.89
VII 3:3:5:5 3.74 0.0536 0.9965 3.08e-3 0.45 1.91
VII 3:5:5:5 3.74 0.0402 0.9965 2.67e-3 0.41 2.19
VII 5:5:5:5 1.00 0.0000 1.00 0.00 0.00 2.53
VIII 1:1:1:1 1 0.0000 1.00 0.00 0.00 2.14
VIII 1:1:1:2 13 0.0745 0.9963 2.02e-3 1.63 3.07
VIII 1:1:1:3 64 0.1166 0.9913 3.60e-3 2.76 4.04
VIII 1:1:1:5 134 0.1263 0.9890 5.19e-3 3.42 4.55
VIII 1:1:1:10 502 0.1572 0.9821 7.93e-3 6.47 6.18
VIII 1:1:1:20 1136 0.1667 0.977 1.04e-2 6.96 7.48
VIII 1:1:1:50 9396 0.1981 0.9568 1.94e-2 14.99 10.69
"""


@dataclass(frozen=True)
class PrintedNumber:
    """A number as printed: its value, and half a unit of its last digit."""

    text: str

    @property
    def value(self) -> float:
        """The number."""
        return float(self.text)

    @property
    def half_unit(self) -> float:
        """What rounding can have taken or added."""
        exponent = Decimal(self.text).as_tuple().exponent
        assert isinstance(exponent, int)
        return 0.5 * 10.0**exponent

    @property
    def low(self) -> float:
        """The least number that is printed so."""
        return self.value - self.half_unit

    @property
    def high(self) -> float:
        """The largest number that is printed so."""
        return self.value + self.half_unit


@dataclass(frozen=True)
class PrintedSystem:
    """A row of tables IV to VIII.

    Attributes
    ----------
    table, ratios : str
        Where, and which system.
    numbers : mapping of str to PrintedNumber
        By the keys of `COLUMNS`.
    """

    table: str
    ratios: str
    numbers: Mapping[str, PrintedNumber]

    @property
    def kind(self) -> str:
        """Which error rate differs between groups: table VIII has the FNMR."""
        return "fnmr" if self.table == "VIII" else "fmr"


def _read() -> tuple[PrintedSystem, ...]:
    systems = []
    for line in _TABLES_IV_TO_VIII.splitlines():
        table, ratios, *cells = line.split()
        numbers = {name: PrintedNumber(cell) for name, cell in zip(COLUMNS, cells, strict=True)}
        systems.append(PrintedSystem(table, ratios, numbers))
    return tuple(systems)


SYSTEMS = _read()


def _systems_of_tables() -> dict[str, tuple[str, tuple[str, ...]]]:
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for system in SYSTEMS:
        found[system.table] = (system.kind, (*found.get(system.table, ("", ()))[1], system.ratios))
    return found


TABLES = (
    _systems_of_tables()
)  # which error rate differs between groups, and the ratios of all systems

"""Verification systems whose scores are normal: their error rates in closed form, and comparisons drawn from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair._lib import argument_kinds, memory, validation
from fastfair._lib.arguments import checked
from fastfair._lib.seeds import Seed, fixed
from fastfair.data.comparisons import Comparisons
from fastfair.errors import InputError

Floats = NDArray[np.float64]


@checked
@dataclass(frozen=True)
class Binormal:
    """A simulated system with normally distributed similarities, whose error rates are known at every threshold.

    Mated similarities have the mean mu / 2, non-mated ones -mu / 2, and both the variance 1. The scores are distances
    1 / (1 + exp(similarity)), so that all lie in (0, 1) and the error rates are equal at the threshold 0.5.

    Parameters
    ----------
    mu : float
        The difference between the two means in standard deviations; at 0 the scores carry no information.

    Examples
    --------
    The rates of a sample beside the true ones:

    >>> import fastfair as ff
    >>> system = ff.Binormal.of_rates(fmr=0.01, tmr=0.9)
    >>> threshold = float(system.threshold_at_fmr(0.01))
    >>> sample = system.draw(100_000, 100_000, rng=0)
    >>> r = ff.rates(sample, ff.at_threshold(threshold))
    >>> round(r.fmr, 3), round(r.fnmr, 2), round(float(system.fnmr(threshold)), 2)
    (0.01, 0.1, 0.1)
    """

    mu: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", validation.real("mu", self.mu))

    @classmethod
    @checked
    def of_rates(
        cls, *, fmr: float | None = None, tmr: float = 0.95, fnmr: float | None = None, tnmr: float = 0.95
    ) -> Binormal:
        """Find the system with a given error rate.

        Parameters
        ----------
        fmr, tmr : float
            The FMR at the threshold that accepts the share `tmr` of mated comparisons, both in (0, 1).
        fnmr, tnmr : float
            In place of `fmr`: the FNMR at the threshold that rejects the share `tnmr` of non-mated comparisons.

        Returns
        -------
        Binormal

        Raises
        ------
        InputError
            For both or neither of `fmr` and `fnmr`, and for rates outside (0, 1).

        Examples
        --------
        >>> import fastfair as ff
        >>> round(ff.Binormal.of_rates(fmr=0.001, tmr=0.95).mu, 3)
        4.735
        """
        from scipy.special import ndtri

        if (fmr is None) == (fnmr is None):
            raise InputError(f"give one of fmr and fnmr, not {'both' if fmr is not None else 'neither'}")
        rates = {"fmr": fmr, "tmr": tmr} if fnmr is None else {"fnmr": fnmr, "tnmr": tnmr}
        error, success = (validation.open_fraction(name, rate) for name, rate in rates.items())
        return cls(float(ndtri(success) - ndtri(error)))

    @property
    def eer(self) -> float:
        """The equal error rate, which holds at the threshold 0.5."""
        return float(self.fmr(0.5))

    @checked(threshold=argument_kinds.numbers)
    def fmr(self, threshold: ArrayLike) -> Floats:
        """Compute the false match rate at thresholds.

        Parameters
        ----------
        threshold : array_like of float
            Distances in [0, 1]; those <= the threshold are accepted.

        Returns
        -------
        ndarray of float
            Of the same shape.
        """
        from scipy.special import logit, ndtr

        return ndtr(logit(validation.fractions("threshold", threshold, ends=True)) - self.mu / 2)

    @checked(threshold=argument_kinds.numbers)
    def fnmr(self, threshold: ArrayLike) -> Floats:
        """Compute the false non-match rate at thresholds.

        Parameters
        ----------
        threshold : array_like of float
            Distances in [0, 1]; those <= the threshold are accepted.

        Returns
        -------
        ndarray of float
            Of the same shape.
        """
        from scipy.special import logit, ndtr

        return ndtr(-logit(validation.fractions("threshold", threshold, ends=True)) - self.mu / 2)

    @checked(fmr=argument_kinds.numbers)
    def threshold_at_fmr(self, fmr: ArrayLike) -> Floats:
        """Find the thresholds with given false match rates.

        Parameters
        ----------
        fmr : array_like of float
            In [0, 1].

        Returns
        -------
        ndarray of float
            Distances, of the same shape.
        """
        from scipy.special import expit, ndtri

        return expit(ndtri(validation.fractions("fmr", fmr, ends=True)) + self.mu / 2)

    @checked(fnmr=argument_kinds.numbers)
    def threshold_at_fnmr(self, fnmr: ArrayLike) -> Floats:
        """Find the thresholds with given false non-match rates.

        Parameters
        ----------
        fnmr : array_like of float
            In [0, 1].

        Returns
        -------
        ndarray of float
            Distances, of the same shape.
        """
        from scipy.special import expit, ndtri

        return expit(-ndtri(validation.fractions("fnmr", fnmr, ends=True)) - self.mu / 2)

    @checked
    def draw(
        self,
        n_mated: int,
        n_nonmated: int,
        *,
        n_subjects: int | None = None,
        subject_effect: float = 0.0,
        group: str | None = None,
        rng: Seed = None,
    ) -> Comparisons:
        """Draw comparisons.

        Parameters
        ----------
        n_mated, n_nonmated : int
            Numbers of mated and of non-mated comparisons, at least 1.
        n_subjects : int, optional
            Number of subjects, at least 2, among whom the comparisons are divided evenly. By default comparisons have
            no subjects and are independent.
        subject_effect : float, default 0
            The correlation in [0, 1] of two mated similarities of one subject, and of two non-mated ones of the same
            two subjects; non-mated ones with one subject in common have half of it. The rates of the system are the
            same for every value.
        group : str, optional
            A label for both sides of all comparisons.
        rng : None, int, SeedSequence or Generator
            Seed, for the same comparisons again.

        Returns
        -------
        Comparisons
            Of distances, the mated ones first. Subjects are numbered from 0.

        Raises
        ------
        InputError
            For sizes below 1, fewer than 2 subjects, and a subject effect outside [0, 1] or without subjects.

        Notes
        -----
        With r the subject effect, a mated similarity of subject k is mu / 2 + sqrt(r) u_k + sqrt(1 - r) e, and a
        non-mated one of subjects k and l is -mu / 2 + sqrt(r / 2) (v_k + v_l) + sqrt(1 - r) e, where all u, v and e are
        independent standard normal numbers. Subjects take turns as the reference, and meet each other subject as the
        probe once before any a second time.

        Examples
        --------
        >>> import fastfair as ff
        >>> ff.Binormal(4).draw(300, 2_000, n_subjects=100, subject_effect=0.3, group="f", rng=0)
        Comparisons(300 mated, 2000 non-mated, distance, 100 subjects, 1 group)
        """
        from scipy.special import expit

        n_mated, n_nonmated = (
            validation.count(name, size, 1) for name, size in (("n_mated", n_mated), ("n_nonmated", n_nonmated))
        )
        r = float(validation.fractions("subject_effect", validation.real("subject_effect", subject_effect), ends=True))
        if n_subjects is None and r > 0:
            raise InputError(f"subject_effect is {r:g}, but there are no subjects: say how many with n_subjects=")
        if n_subjects is not None:
            n_subjects = validation.count("n_subjects", n_subjects, 2)  # as non-mated comparisons need two
        memory.require(
            (32 if n_subjects is None else 64) * (n_mated + n_nonmated) + 16 * (n_subjects or 0),
            f"{n_mated:,} mated and {n_nonmated:,} non-mated comparisons"
            + ("" if n_subjects is None else f" of {n_subjects:,} subjects"),
            "use fewer",
        )
        generator = np.random.Generator(np.random.PCG64(fixed(rng)))
        similarity = generator.standard_normal(n_mated + n_nonmated)
        known: dict[str, Any] = {}
        if n_subjects is not None:
            reference, probe = (
                np.concatenate(sides)
                for sides in zip(_dealt(n_mated, n_subjects, True), _dealt(n_nonmated, n_subjects, False), strict=True)
            )
            known = {"reference": reference, "probe": probe}
            similarity *= np.sqrt(1 - r)
            mated, nonmated = generator.standard_normal((2, n_subjects))
            similarity[:n_mated] += np.sqrt(r) * mated[reference[:n_mated]]
            similarity[n_mated:] += np.sqrt(r / 2) * (nonmated[reference[n_mated:]] + nonmated[probe[n_mated:]])
        similarity[:n_mated] += self.mu / 2
        similarity[n_mated:] -= self.mu / 2
        if group is not None:
            labels = validation.encode("group", [group]).labels
            known["reference_group"] = validation.Coded(labels, np.zeros(similarity.size, np.uint16))
        flags = np.arange(similarity.size) < n_mated
        return Comparisons(expit(-similarity), flags, score_kind="distance", **known)


@checked
def binormal_comparisons(
    n_mated: int,
    n_nonmated: int,
    *,
    fmr: float | None = None,
    tmr: float = 0.95,
    fnmr: float | None = None,
    tnmr: float = 0.95,
    n_subjects: int | None = None,
    subject_effect: float = 0.0,
    group: str | None = None,
    rng: Seed = None,
) -> Comparisons:
    """Draw comparisons of a system with normal similarities and a given error rate.

    Parameters
    ----------
    n_mated, n_nonmated : int
        Numbers of mated and of non-mated comparisons, at least 1.
    fmr, tmr : float
        The FMR of the system at the threshold that accepts the share `tmr` of mated comparisons, both in (0, 1).
    fnmr, tnmr : float
        In place of `fmr`: the FNMR at the threshold that rejects the share `tnmr` of non-mated comparisons.
    n_subjects : int, optional
        Number of subjects, at least 2, among whom the comparisons are divided evenly; none by default.
    subject_effect : float, default 0
        The correlation in [0, 1] of comparisons of the same subjects, as in `Binormal.draw`.
    group : str, optional
        A label for all comparisons.
    rng : None, int, SeedSequence or Generator
        Seed, for the same comparisons again.

    Returns
    -------
    Comparisons
        With distances in (0, 1). The given rates are those of the system; the comparisons have them up to chance.

    Raises
    ------
    InputError
        For both or neither of `fmr` and `fnmr`, rates outside (0, 1), and as `Binormal.draw` does.

    See Also
    --------
    Binormal : the system, whose true rates are known at every threshold.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.binormal_comparisons(3_000, 300_000, fmr=0.001, n_subjects=1_000, group="f", rng=0)
    >>> c
    Comparisons(3000 mated, 300000 non-mated, distance, 1000 subjects, 1 group)
    >>> round(ff.rates(c, ff.at_fnmr(0.05)).fmr, 4)
    0.001
    """
    system = Binormal.of_rates(fmr=fmr, tmr=tmr, fnmr=fnmr, tnmr=tnmr)
    return system.draw(n_mated, n_nonmated, n_subjects=n_subjects, subject_effect=subject_effect, group=group, rng=rng)


def _dealt(n: int, n_subjects: int, mated: bool) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Deal comparisons to subjects in turn; in every round of non-mated ones the probes are one subject further on."""
    turn, reference = np.divmod(np.arange(n), n_subjects)
    return reference, reference if mated else (reference + 1 + turn % (n_subjects - 1)) % n_subjects

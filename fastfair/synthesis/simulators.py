"""Simulated data whose true error rates are known: binormal scores, embeddings of subjects,
correlated decisions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit, ndtr, ndtri

from fastfair._lib import memory, validation
from fastfair._lib.arguments import AtLeastTwo, Natural, Probability, Share, checked
from fastfair._lib.arrays import Flags, Floats, Indices
from fastfair._lib.label_codes import Coded, encode
from fastfair._lib.seeds import Seed, fix_seed
from fastfair.data import checks
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.data.sorted_scores import read_only
from fastfair.errors import InputError


@checked
@dataclass(frozen=True)
class Binormal:
    """A simulated system with normally distributed similarities, whose error rates are known at
    every threshold.

    Mated similarities have the mean mu / 2, non-mated ones -mu / 2, and both the variance 1. The
    scores are distances 1 / (1 + exp(similarity)), so that all lie in (0, 1) and the error rates
    are equal at the threshold 0.5.

    Parameters
    ----------
    mu : float
        The difference between the two means in standard deviations; at 0 the scores carry no
        information.

    Examples
    --------
    The rates of a sample beside the true ones:

    >>> import fastfair as ff
    >>> system = ff.synthesis.Binormal.of_rates(fmr=0.01, tmr=0.9)
    >>> threshold = float(system.threshold_at_fmr(0.01))
    >>> sample = system.draw(100_000, 100_000, rng=0)
    >>> r = ff.rates(sample, ff.at_threshold(threshold))
    >>> round(r.fmr, 3), round(r.fnmr, 2), round(float(system.fnmr(threshold)), 2)
    (0.01, 0.1, 0.1)
    """

    mu: float

    @classmethod
    @checked
    def of_rates(
        cls,
        *,
        fmr: float | None = None,
        tmr: float = 0.95,
        fnmr: float | None = None,
        tnmr: float = 0.95,
    ) -> Binormal:
        """Find the system with a given error rate.

        Parameters
        ----------
        fmr, tmr : float
            The FMR at the threshold that accepts the share `tmr` of mated comparisons, both in (0,
            1).
        fnmr, tnmr : float
            In place of `fmr`: the FNMR at the threshold that rejects the share `tnmr` of non-mated
            comparisons.

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
        >>> round(ff.synthesis.Binormal.of_rates(fmr=0.001, tmr=0.95).mu, 3)
        4.735
        """
        if (fmr is None) == (fnmr is None):
            raise InputError(
                f"give one of fmr and fnmr, not {'both' if fmr is not None else 'neither'}"
            )
        rates = {"fmr": fmr, "tmr": tmr} if fnmr is None else {"fnmr": fnmr, "tnmr": tnmr}
        error, success = (validation.fraction(name, rate, "(0, 1)") for name, rate in rates.items())
        return cls(float(ndtri(success) - ndtri(error)))

    @property
    def eer(self) -> float:
        """The equal error rate, which holds at the threshold 0.5."""
        return float(self.fmr(0.5))

    @checked
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
        return ndtr(logit(validation.fractions("threshold", threshold, "[0, 1]")) - self.mu / 2)

    @checked
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
        return ndtr(-logit(validation.fractions("threshold", threshold, "[0, 1]")) - self.mu / 2)

    @checked
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
        return expit(ndtri(validation.fractions("fmr", fmr, "[0, 1]")) + self.mu / 2)

    @checked
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
        return expit(-ndtri(validation.fractions("fnmr", fnmr, "[0, 1]")) - self.mu / 2)

    @checked
    def draw(
        self,
        n_mated: Natural,
        n_nonmated: Natural,
        *,
        n_subjects: AtLeastTwo | None = None,  # as non-mated comparisons need two
        subject_effect: Share = 0.0,
        group: str | None = None,
        rng: Seed = None,
    ) -> Comparisons:
        """Draw comparisons.

        Parameters
        ----------
        n_mated, n_nonmated : int
            Numbers of mated and of non-mated comparisons, at least 1.
        n_subjects : int, optional
            Number of subjects, at least 2, among whom the comparisons are divided evenly. By
            default comparisons have no subjects and are independent.
        subject_effect : float, default 0
            The correlation in [0, 1] of two mated similarities of one subject, and of two non-mated
            ones of the same two subjects; non-mated ones with one subject in common have half of
            it. The rates of the system are the same for every value.
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
            For sizes below 1, fewer than 2 subjects, and a subject effect outside [0, 1] or without
            subjects.

        Notes
        -----
        With r the subject effect, a mated similarity of subject k is mu / 2 + sqrt(r) u_k + sqrt(1
        - r) e, and a non-mated one of subjects k and l is -mu / 2 + sqrt(r / 2) (v_k + v_l) +
        sqrt(1 - r) e, where all u, v and e are independent standard normal numbers. Subjects take
        turns as the reference, and meet each other subject as the probe once before any a second
        time.

        Examples
        --------
        >>> import fastfair as ff
        >>> ff.synthesis.Binormal(4).draw(300, 2_000, n_subjects=100, subject_effect=0.3, group="f", rng=0)
        Comparisons(300 mated, 2000 non-mated, distance, 100 subjects, 1 group)
        """
        r = float(subject_effect)
        if n_subjects is None and r > 0:
            raise InputError(
                f"subject_effect is {r:g}, but there are no subjects: say how many with"
                " ⟦n_subjects=⟧"
            )
        memory.require(
            (32 if n_subjects is None else 64) * (n_mated + n_nonmated) + 16 * (n_subjects or 0),
            f"{n_mated:,} mated and {n_nonmated:,} non-mated comparisons"
            + ("" if n_subjects is None else f" of {n_subjects:,} subjects"),
            "use fewer",
        )
        generator = np.random.Generator(np.random.PCG64(fix_seed(rng)))
        similarity = generator.standard_normal(n_mated + n_nonmated)
        columns: dict[str, Any] = {}
        if n_subjects is not None:
            reference, probe = (
                np.concatenate(sides)
                for sides in zip(
                    _dealt(n_mated, n_subjects, True),
                    _dealt(n_nonmated, n_subjects, False),
                    strict=True,
                )
            )
            columns = {"reference": reference, "probe": probe}
            similarity *= np.sqrt(1 - r)
            mated, nonmated = generator.standard_normal((2, n_subjects))
            similarity[:n_mated] += np.sqrt(r) * mated[reference[:n_mated]]
            similarity[n_mated:] += np.sqrt(r / 2) * (
                nonmated[reference[n_mated:]] + nonmated[probe[n_mated:]]
            )
        similarity[:n_mated] += self.mu / 2
        similarity[n_mated:] -= self.mu / 2
        if group is not None:
            labels = encode("group", [group]).labels
            columns["reference_group"] = Coded(labels, np.zeros(similarity.size, np.uint16))
        flags = np.arange(similarity.size) < n_mated
        return Comparisons(expit(-similarity), flags, score_kind="distance", **columns)


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
        The FMR of the system at the threshold that accepts the share `tmr` of mated comparisons,
        both in (0, 1).
    fnmr, tnmr : float
        In place of `fmr`: the FNMR at the threshold that rejects the share `tnmr` of non-mated
        comparisons.
    n_subjects : int, optional
        Number of subjects, at least 2, among whom the comparisons are divided evenly; none by
        default.
    subject_effect : float, default 0
        The correlation in [0, 1] of comparisons of the same subjects, as in `Binormal.draw`.
    group : str, optional
        A label for all comparisons.
    rng : None, int, SeedSequence or Generator
        Seed, for the same comparisons again.

    Returns
    -------
    Comparisons
        With distances in (0, 1). The given rates are those of the system; the comparisons have them
        up to chance.

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
    >>> c = ff.synthesis.binormal_comparisons(3_000, 300_000, fmr=0.001, n_subjects=1_000, group="f", rng=0)
    >>> c
    Comparisons(3000 mated, 300000 non-mated, distance, 1000 subjects, 1 group)
    >>> round(ff.rates(c, ff.at_fnmr(0.05)).fmr, 4)
    0.001
    """
    system = Binormal.of_rates(fmr=fmr, tmr=tmr, fnmr=fnmr, tnmr=tnmr)
    return system.draw(
        n_mated,
        n_nonmated,
        n_subjects=n_subjects,
        subject_effect=subject_effect,
        group=group,
        rng=rng,
    )


def _dealt(n: int, n_subjects: int, mated: bool) -> tuple[Indices, Indices]:
    """Deal comparisons to subjects in turn; in every round of non-mated ones the probes are one
    subject further on.
    """
    turn, reference = np.divmod(np.arange(n), n_subjects)
    return reference, reference if mated else (reference + 1 + turn % (n_subjects - 1)) % n_subjects


_BLOCK = 2**17  # numbers that stay in a processor's cache


@checked
@dataclass(frozen=True, eq=False)
class VonMisesFisherIdentities:
    """Subjects whose vectors have von Mises-Fisher distributions, each around the subject's own
    centre on the sphere.

    All data sets drawn from one object have the same identities, as studies of coverage need.

    Parameters
    ----------
    centers : (k, d) array_like of float
        The mean direction of each subject, of any length but 0; d is at least 2.
    concentrations : float or (k,) array_like of float
        How closely each subject's vectors lie about its centre: 0 is uniform on the sphere.

    Examples
    --------
    >>> import fastfair as ff
    >>> identities = ff.VonMisesFisherIdentities.random(100, dim=32, concentration=(50, 200), rng=0)
    >>> first, second = (identities.draw(n_samples=5, rng=seed) for seed in (1, 2))
    >>> first.shape, first.dtype
    ((500, 32), dtype('float32'))
    """

    centers: Floats
    concentrations: Floats

    def __post_init__(self) -> None:
        centers = checks.vectors(self.centers)
        checks.require_usable(centers, "cosine")
        if centers.shape[1] < 2:
            raise InputError(
                "centers needs at least 2 columns: on a line there are two directions alone"
            )
        centers = centers / np.linalg.norm(centers, axis=1, keepdims=True)
        given = validation.numbers_of("concentrations", self.concentrations)
        try:
            concentrations = np.broadcast_to(given, len(centers)).copy()
        except ValueError:
            raise InputError(
                f"concentrations must be one number, or one for each of {len(centers)} centers"
            ) from None
        if not (np.isfinite(given) & (given >= 0)).all():
            raise InputError("concentrations must be finite numbers of at least 0")
        object.__setattr__(self, "centers", read_only(centers.astype(np.float64)))
        object.__setattr__(self, "concentrations", read_only(concentrations))

    @classmethod
    @checked
    def random(
        cls,
        n_subjects: AtLeastTwo,
        dim: AtLeastTwo,
        concentration: float | tuple[float, float],
        *,
        rng: Seed = None,
    ) -> VonMisesFisherIdentities:
        """Make subjects with centres drawn uniformly from the sphere.

        Parameters
        ----------
        n_subjects, dim : int
            Number of subjects and dimension of the vectors; both at least 2.
        concentration : float or pair of float
            The concentration of every subject, or the range from which each subject's is drawn
            uniformly.
        rng : None, int, SeedSequence or Generator
            Seed of the random numbers. The same seed may be used for `draw`, which uses other
            random numbers.

        Returns
        -------
        VonMisesFisherIdentities
        """
        low, high = _limits(concentration)
        memory.require(
            16 * n_subjects * dim,
            f"{n_subjects:,} centres of {dim:,} numbers",
            "use fewer subjects or a lower dim",
        )
        generator = np.random.Generator(np.random.PCG64(fix_seed(rng)).jumped())
        return cls(
            generator.standard_normal((n_subjects, dim)), generator.uniform(low, high, n_subjects)
        )

    @checked
    def draw(self, n_samples: int | ArrayLike, *, rng: Seed = None) -> NDArray[np.float32]:
        """Draw a data set in which the vectors of each subject are consecutive, in the order of
        `centers`.

        Parameters
        ----------
        n_samples : int or (k,) array_like of int
            Number of vectors of each subject.
        rng : None, int, SeedSequence or Generator
            Seed of the random numbers.

        Returns
        -------
        (n, d) ndarray of float32
            Vectors of length 1.

        Notes
        -----
        The cosine to the centre is drawn by Wood's rejection (1994), the direction about it is
        uniform: the distribution is exact.
        """
        k, d = self.centers.shape
        subject = np.repeat(np.arange(k), samples_of_each(n_samples, k, d))
        generator = np.random.Generator(np.random.PCG64(fix_seed(rng)))
        cosine, sine = _angles(self.concentrations[subject], d, generator)
        vectors = np.empty((subject.size, d), np.float32)
        step = max(1, _BLOCK // d)
        for start in range(0, subject.size, step):
            rows = slice(start, start + step)
            center = self.centers[subject[rows]]
            aside = generator.standard_normal(center.shape)
            aside -= np.einsum("ij,ij->i", aside, center)[:, None] * center
            aside *= (sine[rows] / np.sqrt(np.einsum("ij,ij->i", aside, aside)))[:, None]
            center *= cosine[rows, None]
            vectors[rows] = center + aside
        return vectors


@checked
def von_mises_fisher_embeddings(
    n_subjects: int,
    n_samples: int | ArrayLike,
    dim: int,
    concentration: float | tuple[float, float],
    *,
    rng: Seed = None,
) -> Embeddings:
    """Draw embeddings of subjects whose centres are uniform on the sphere, with von Mises-Fisher
    scatter about them.

    Parameters
    ----------
    n_subjects : int
        Number of subjects, at least 2.
    n_samples : int or (n_subjects,) array_like of int
        Number of vectors of each subject.
    dim : int
        Dimension of the vectors, at least 2.
    concentration : float or pair of float
        How closely vectors lie around their subject's centre; from a pair, a range, each subject's
        own is drawn.
    rng : None, int, SeedSequence or Generator
        Seed, for the same vectors again.

    Returns
    -------
    Embeddings
        Subjects are numbered from 0; the similarity is the cosine.

    See Also
    --------
    VonMisesFisherIdentities : many data sets of the same subjects.

    References
    ----------
    Wood, "Simulation of the von Mises Fisher distribution", Communications in Statistics 23(1),
    1994.

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.von_mises_fisher_embeddings(200, n_samples=10, dim=64, concentration=(100, 300), rng=0)
    Embeddings(2000 x 64 float32, cosine, 200 subjects, 9000 mated, 1990000 non-mated)
    """
    seed = fix_seed(rng)
    identities = VonMisesFisherIdentities.random(n_subjects, dim, concentration, rng=seed)
    n_subjects, dim = identities.centers.shape
    sizes = samples_of_each(n_samples, n_subjects, dim)
    return Embeddings(identities.draw(sizes, rng=seed), np.repeat(np.arange(n_subjects), sizes))


@checked
def correlated_decisions(
    n_subjects: Natural,
    n_attempts: Natural,
    fnmr: Probability,
    correlation: Share,
    *,
    rng: Seed = None,
) -> Flags:
    """Draw decisions on mated comparisons that are correlated within subjects.

    Parameters
    ----------
    n_subjects, n_attempts : int
        Number of subjects, and of mated comparisons of each; both at least 1.
    fnmr : float
        Probability that a comparison fails, in (0, 1).
    correlation : float
        Intra-class correlation of the decisions on one subject, in [0, 1]: at 0 all decisions are
        independent, at 1 all decisions on a subject are the same.
    rng : None, int, SeedSequence or Generator
        Seed, for the same decisions again.

    Returns
    -------
    (n_subjects, n_attempts) ndarray of bool
        True for a false non-match. The number of failures of a subject is beta-binomial.

    See Also
    --------
    plan_margin : the margin of error of studies with such decisions.

    Notes
    -----
    Decisions are drawn from an urn: after e failures in j attempts of a subject, the next fails
    with probability ((1 - correlation) fnmr + correlation e) / (1 - correlation + correlation j).
    That is the same law as a failure rate for each subject, drawn from a beta distribution.

    Examples
    --------
    >>> import fastfair as ff
    >>> failed = ff.correlated_decisions(10_000, 3, fnmr=0.1, correlation=0.3, rng=0)
    >>> failed.shape, float(failed.mean().round(2))
    ((10000, 3), 0.1)
    """
    memory.require(
        10 * n_subjects * n_attempts + 24 * n_subjects,
        f"the decisions on {n_subjects:,} subjects with {n_attempts:,} attempts each",
        "use fewer",
    )
    apart = 1 - correlation
    drawn = np.random.Generator(np.random.PCG64(fix_seed(rng))).random((n_attempts, n_subjects))
    failed = np.empty(drawn.shape, bool)
    failures = np.zeros(n_subjects)
    chance = np.full(n_subjects, fnmr)
    for j in range(n_attempts):
        failed[j] = drawn[j] < chance
        failures += failed[j]
        chance = (apart * fnmr + correlation * failures) / (apart + correlation * (j + 1))
    return np.ascontiguousarray(failed.T)


def _limits(concentration: Any) -> tuple[float, float]:
    low, high = (
        concentration if isinstance(concentration, tuple) else (concentration, concentration)
    )
    if not 0 <= low <= high:
        raise InputError(
            f"concentration must be at least 0, and a pair ascending, not {concentration!r}"
        )
    return low, high


def samples_of_each(n_samples: int | ArrayLike, k: int, d: int) -> Indices:
    """Check how many vectors of d numbers each of k subjects has, and that there is memory for
    them.
    """
    given = validation.counts("n_samples", n_samples, 1)
    if given.shape not in ((), (k,)):
        raise InputError(
            f"⟦n_samples⟧ must be one number, or one for each of {k} subjects, not of shape"
            f" {given.shape}"
        )
    of_each = np.broadcast_to(given, k).astype(np.intp)
    n = sum(of_each.tolist())
    memory.require(
        (4 * d + 64) * n,
        f"{n:,} vectors of {d:,} numbers",
        "use fewer samples, subjects or a lower dim",
    )
    return of_each


def _angles(concentration: Floats, d: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw the cosines and sines of the angles between vectors and their centres.

    Wood's proposal is w = (1 - (1 + b) z) / (1 - (1 - b) z) with z from a beta distribution. It is
    written in 1 - w, as w itself is too near 1 to be told from it where concentrations are high.
    """
    b = (d - 1) / (2 * concentration + np.hypot(2 * concentration, d - 1))
    mode = 2 * b / (1 + b)  # 1 - x0 in Wood's notation
    short, sine = np.empty(b.size), np.empty(b.size)  # short: 1 - w
    left = np.arange(b.size)
    while left.size:
        z = generator.beta((d - 1) / 2, (d - 1) / 2, left.size)
        low = 1 - (1 - b[left]) * z
        short[left] = 2 * b[left] * z / low
        sine[left] = 2 * np.sqrt(b[left] * z * (1 - z)) / low
        x, m = short[left], mode[left]
        ratio = concentration[left] * (m - x) + (d - 1) * np.log((m + (1 - m) * x) / (m * (2 - m)))
        left = left[ratio < -generator.standard_exponential(left.size)]
    return 1 - short, sine

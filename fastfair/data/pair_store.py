"""Keep pairs of vectors while they are found, packed where they fit, and sort them."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.jobs import Arrays
from fastfair._lib.radix_sort import sort_by_bits
from fastfair._lib.threads import in_threads, slices

from . import score_keys
from .temporary_files import joined, room

Floats = NDArray[np.floating[Any]]
Positions = NDArray[np.int32]
_PAIRS_AT_ONCE = 2**16
_NOT_PACKED = 48  # bytes of a pair while it is sorted: keys, codes, their order, and what is made of them


@dataclass(frozen=True, eq=False)
class Pairs:
    """Mated, or non-mated, pairs, sorted; vectors are positions in `Pairing.order`, the first before the second.

    Attributes
    ----------
    keys : (pairs,) int32 or int64
        Ascending, so that errors come first: similarities of mated pairs, inverted similarities of non-mated pairs.
    first, second : (pairs,) int32
        The two vectors of each pair.
    complete : bool
        Whether these are all such pairs, and not only the most similar ones.
    """

    keys: score_keys.Keys
    first: Positions
    second: Positions
    complete: bool


@dataclass(frozen=True)
class Packing:
    """How the key of a pair and its two vectors are packed into one integer.

    Attributes
    ----------
    kind : dtype
        Float type of the similarities.
    lowest, span : int
        The lowest possible key, and the number of bits that the keys' range takes.
    places : int
        The number of bits that the position of a vector takes.
    """

    kind: np.dtype[Any]
    lowest: int
    span: int
    places: int

    @property
    def fits(self) -> bool:
        """Whether a key and two vectors fit into an int64 that is not negative."""
        return self.kind == np.float32 and 2 * self.places + self.span < 64

    @property
    def bytes_sorting(self) -> int:
        """Bytes of memory that a pair takes while it is sorted; where it fits, `room` may take them from the disk."""
        return 0 if self.fits else _NOT_PACKED


class PairStore:
    """Collects pairs in the order in which threads find them.

    It uses the same memory again where it can, as the first access to a page may cost more than all work on it.
    """

    def __init__(self, capacity: int, packing: Packing) -> None:
        self.packing = packing
        self._packed = room(capacity if packing.fits else 0, np.int64)
        self._used = 0
        self._lock = threading.Lock()
        self._overflow: list[NDArray[np.int64]] = []
        self._wide: list[tuple[score_keys.Keys, NDArray[np.int64]]] = []

    def add(self, similarity: Floats, codes: NDArray[np.int64], *, inverted: bool) -> None:
        """Add pairs: their similarities, whose keys may be inverted, and the codes of their two vectors."""
        from fastfair.kernels import pairs as kernels

        invert = -1 if inverted else 0
        if not self.packing.fits:
            self._wide.append((score_keys.encode(similarity) ^ invert, codes.copy()))
            return
        with self._lock:
            start = self._used
            fits = start + codes.size <= self._packed.size
            if fits:
                self._used += codes.size
        out = self._packed[start : start + codes.size] if fits else np.empty(codes.size, np.int64)
        bits = similarity.view(np.int32)
        kernels.pack(bits, codes, invert, self.packing.lowest, 2 * self.packing.places, out)
        if not fits:
            self._overflow.append(out)

    def taken(self) -> Arrays:
        """Return the pairs as arrays; none can be added afterwards."""
        if not self.packing.fits:
            keys, codes = zip(*self._wide, strict=True)
            return {"keys": np.concatenate(keys), "codes": np.concatenate(codes)}
        return {"packed": joined([self._packed[: self._used], *self._overflow])}


@dataclass(frozen=True, eq=False)
class FoundPairs:
    """Pairs in the order in which they were found.

    Attributes
    ----------
    parts : list of dict of ndarray
        As `PairStore.taken` returns them.
    packing : Packing
        How they are packed.
    complete : bool
        As in `Pairs`.
    """

    parts: list[Arrays]
    packing: Packing
    complete: bool

    @property
    def packed(self) -> NDArray[np.int64]:
        """(pairs,) the pairs, packed, where they fit."""
        self._join()
        return np.asarray(self.parts[0]["packed"])

    def _join(self) -> None:
        """Make one part of all."""
        if len(self.parts) > 1:
            names = tuple(self.parts[0])
            self.parts[:] = [{name: joined([part.pop(name) for part in self.parts]) for name in names}]

    def best(self, number: Positions, *, inverted: bool) -> FoundPairs:
        """Give vectors other numbers, and keep of pairs that are then the same the most similar one.

        Parameters
        ----------
        number : (n,) int32
            The new number of each vector, below n.
        inverted : bool
            Whether keys fall as similarities rise.

        Returns
        -------
        FoundPairs
            These cannot be used afterwards.
        """
        self._join()
        columns, packing = self.parts.pop(), self.packing
        places, span = packing.places, packing.span
        of_vector, number = (1 << places) - 1, number.astype(np.int64)
        if not packing.fits:
            keys, codes = columns["keys"], columns["codes"]
            codes = (number[codes >> places] << places) + number[codes & of_vector]
            order = np.lexsort((keys if inverted else ~keys, codes))
            order = order[np.diff(codes[order], prepend=-1) != 0]
            return FoundPairs([{"keys": keys[order], "codes": codes[order]}], packing, self.complete)
        packed = columns["packed"]
        parts = [slice(start, start + _PAIRS_AT_ONCE) for start in range(0, packed.size, _PAIRS_AT_ONCE)]
        of_key = (1 << span) - 1
        turned = 0 if inverted else of_key  # so that the best comes first
        for part in parts:  # vectors before keys
            some = packed[part]
            code = (number[(some >> places) & of_vector] << places) + number[some & of_vector]
            packed[part] = (code << span) + ((some >> 2 * places) ^ turned)
        packed.sort()
        size, last = 0, -1
        for part in parts:
            some = packed[part].copy()
            code = some >> span
            some = some[np.diff(code, prepend=last) != 0]
            last = int(code[-1])
            packed[size : size + some.size] = (((some & of_key) ^ turned) << 2 * places) + (some >> span)
            size += some.size
        return FoundPairs([{"packed": packed[:size]}], packing, self.complete)

    def sorted(self, n_threads: int) -> Pairs:
        """Return the pairs, sorted by key and then by vectors; these cannot be used afterwards."""
        from fastfair.kernels import pairs as kernels

        self._join()
        columns, packing = self.parts.pop(), self.packing
        places, span = packing.places, packing.span
        if not packing.fits:
            keys, codes = columns["keys"], columns["codes"]
            order = np.lexsort((codes, keys))
            codes = codes[order]
            first, second = codes >> places, codes & ((1 << places) - 1)
            return Pairs(keys[order], first.astype(np.int32), second.astype(np.int32), self.complete)
        packed = columns["packed"]
        shift = 2 * places
        spare = room(packed.size, np.int64)
        found = sort_by_bits(packed, spare, shift, shift + span, n_threads)
        free = spare if np.shares_memory(found, packed) else packed
        first, second = np.split(free.view(np.int32), 2)

        def unpack(part: slice) -> None:
            kernels.order_ties(found[part], shift)
            kernels.unpack_codes(found[part], places, first[part], second[part])

        in_threads(found.size, unpack, _between_keys(found, shift, slices(found.size, n_threads)))
        keys = found.view(np.int32)[: found.size]
        kernels.unpack_keys(found, packing.lowest, shift, keys)
        return Pairs(keys, first, second, self.complete)


def _between_keys(packed: NDArray[np.int64], shift: int, parts: list[slice]) -> list[slice]:
    """Divide sorted pairs into parts so that pairs with equal keys stay together."""
    cuts = [int(np.searchsorted(packed, (packed[part.start] >> shift) << shift)) for part in parts[1:]]
    return [slice(start, stop) for start, stop in zip([0, *cuts], [*cuts, packed.size], strict=True)]

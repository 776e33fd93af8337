"""Number the rows of a column by its distinct entries, and read tables by such numbers, in one pass
each.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit

_LOW = np.uint64(2**32 - 1)
# a prime, so that every bit of a word reaches many bits of the product
_FACTOR = np.uint64(0x9E3779B1)


@jit
def mark_used(values, lowest, used):
    """Mark which numbers occur. values: (n,) integers; lowest: the lowest; used: (highest - lowest
    + 1,) bool, out.
    """
    for k in range(values.size):
        used[np.int64(values[k]) - lowest] = True


@jit
def look_up(values, lowest, table, out):
    """Read a table. values: (n,) integers; lowest: the one of the first entry; table: (m,); out:
    (n,) of any type.
    """
    for k in range(values.size):
        out[k] = table[np.int64(values[k]) - lowest]


@jit
def fill_table(places, entries, table):
    """Write entries to a table, and return whether each place has one alone.

    places: (n,) integers; entries: (n,) integers of at least 0; table: (m,) int32, negative where
    nothing was written
    """
    for k in range(places.size):
        if table[places[k]] < 0:
            table[places[k]] = entries[k]
        elif table[places[k]] != entries[k]:
            return False
    return True


@jit
def number_rows(words, first, entries, slots, numbers):
    """Number the distinct rows of a table in the order in which they first occur, through a hash
    table.

    words: (n, w) uint32; first: (m,) int64, out, the row in which each number first occurs;
    entries: (m, w) uint32, out, these rows, side by side to be near in memory; slots: (a power of
    two above m,) int32, all -1, overwritten; numbers: (n,) int32, out. Returns how many there are,
    or -1 if above m.
    """
    last = np.uint64(slots.size - 1)
    n_entries = 0
    for k in range(words.shape[0]):
        mixed = np.uint64(0)
        for w in range(words.shape[1]):
            # Both factors are below 2^32, so that the product never overflows; its halves are
            # mixed.
            product = ((mixed ^ np.uint64(words[k, w])) + np.uint64(1)) * _FACTOR
            mixed = (product >> np.uint64(32)) ^ (product & _LOW)
        slot = mixed & last
        while True:
            number = slots[slot]
            if number < 0:
                if n_entries == first.size:
                    return -1
                slots[slot] = n_entries
                first[n_entries] = k
                for w in range(words.shape[1]):
                    entries[n_entries, w] = words[k, w]
                numbers[k] = n_entries
                n_entries += 1
                break
            same = True
            for w in range(words.shape[1]):
                if words[k, w] != entries[number, w]:
                    same = False
                    break
            if same:
                numbers[k] = number
                break
            slot = (slot + np.uint64(1)) & last
    return n_entries

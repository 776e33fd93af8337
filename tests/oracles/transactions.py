"""Transactions in plain loops."""

from __future__ import annotations

import math


def consecutive(rows, attempts):
    """Return the attempts of each transaction: rows are (mated, reference, probe, session, score),
    of which every `attempts` of the same people and session in a row make one."""
    waiting = {}
    made = []
    for mated, reference, probe, session, score in rows:
        key = (mated, reference, probe, session)
        waiting.setdefault(key, []).append(score)
        if len(waiting[key]) == attempts:
            made.append((mated, reference, probe, waiting.pop(key)))
    return made


def named(rows):
    """Return the attempts of each transaction: rows are (mated, reference, probe, transaction,
    score)."""
    made = {}
    for mated, reference, probe, transaction, score in rows:
        made.setdefault((mated, reference, probe, transaction), []).append(score)
    return [(*key[:3], scores) for key, scores in made.items()]


def rates(transactions, threshold, allowed, *, distance=False):
    """Return FRR and FAR: a transaction is accepted when one of the first attempts is."""
    counts = {True: [0, 0], False: [0, 0]}
    for mated, _, _, scores in transactions:
        is_accepted = False
        for score in scores[:allowed]:
            if math.isnan(score):
                continue
            if (score <= threshold) if distance else (score >= threshold):
                is_accepted = True
        counts[mated][0] += 1
        counts[mated][1] += is_accepted != mated
    return tuple(
        counts[mated][1] / counts[mated][0] if counts[mated][0] else math.nan
        for mated in (True, False)
    )

"""Text of others, such as labels and names of files, as it is shown: nothing in it acts on a terminal or a plot."""

from __future__ import annotations

import unicodedata

_ESCAPED = ("Cc", "Cf", "Cs", "Zl", "Zp")  # controls, formats such as bidi overrides, lone surrogates, line ends
_JOINERS = "\u200c\u200d"  # which some scripts spell with


def visible(text: str) -> str:
    r"""Write control characters, line ends and the like as Python's escapes do.

    Parameters
    ----------
    text : str
        Any.

    Returns
    -------
    str
        Of one line, which is shown as it is written.

    Examples
    --------
    >>> from fastfair._lib.text import visible
    >>> print(visible("\x1b[31mred\n\u202e"))
    \x1b[31mred\n\u202e
    """
    if text.isprintable():
        return text
    return "".join(repr(c)[1:-1] if unicodedata.category(c) in _ESCAPED and c not in _JOINERS else c for c in text)


def drawn(label: str) -> str:
    """Write a label for matplotlib, which would take dollars for formulas and hide what begins with an underscore."""
    text = visible(label).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text

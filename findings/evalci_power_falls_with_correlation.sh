#!/bin/sh
# evalci 0.1.0: systems that are right about the same people need more people to be told apart, not fewer.
#
# power(delta, method="simulation", rho) is documented to simulate a paired comparison of two systems that differ by delta, rho being the
# share of people about whom both are right or wrong together. Both get the same rate for these, the mean of the two, so that the difference
# that is simulated is 1 - rho times delta, which nothing says; the result names delta. A correlation makes paired differences vary
# less, and the power to find the same delta rises with it.
#
# Seen:
#   rho 0.0 delta 0.05 power 0.84 by hand 0.84 of a difference of 0.05 it is 0.84
#   rho 0.3 delta 0.05 power 0.7 by hand 0.94 of a difference of 0.035 it is 0.69
#   rho 0.6 delta 0.05 power 0.46 by hand 1.0 of a difference of 0.02 it is 0.46
#   rho 0.9 delta 0.05 power 0.16 by hand 1.0 of a difference of 0.005 it is 0.15
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check evalci==0.1.0 numpy==2.4.6 scipy==1.17.1 pandas==3.1.1
cat > "$folder/finding.py" <<'PYTHON'
import evalci
import numpy as np
from scipy.stats import norm

rate, delta, people = 0.8, 0.05, 1000


def power(difference, variance):
    return float(round(norm.cdf(difference * np.sqrt(people / variance) - norm.ppf(0.975)), 2))


first, second = rate * (1 - rate), (rate + delta) * (1 - rate - delta)
for rho in (0.0, 0.3, 0.6, 0.9):
    result = evalci.power(delta, n=people, baseline=rate, method="simulation", rho=rho, sims=4000, random_state=0)
    correlated = power(delta, first + second - 2 * rho * np.sqrt(first * second))
    less = (1 - rho) * delta
    of_less = power(less, (1 - rho) * (first + second + delta**2) - less**2)
    print("rho", rho, "delta", result.delta, "power", round(result.power, 2), end=" ")
    print("by hand", correlated, "of a difference of", round(less, 3), "it is", of_less)
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
rho 0.0 delta 0.05 power 0.84 by hand 0.84 of a difference of 0.05 it is 0.84
rho 0.3 delta 0.05 power 0.7 by hand 0.94 of a difference of 0.035 it is 0.69
rho 0.6 delta 0.05 power 0.46 by hand 1.0 of a difference of 0.02 it is 0.46
rho 0.9 delta 0.05 power 0.16 by hand 1.0 of a difference of 0.005 it is 0.15
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

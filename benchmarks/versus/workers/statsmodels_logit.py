"""statsmodels' logit with clusters: the coefficients and their standard errors."""

import numpy as np
from serve import load, serve
from statsmodels.api import GLM, families

failed, columns, subject = load("failed"), load("columns"), load("subject")


def logit() -> list[list[float]]:
    model = GLM(
        failed, np.column_stack((np.ones(len(failed)), columns)), family=families.Binomial()
    )
    found = model.fit(cov_type="cluster", cov_kwds={"groups": subject}, tol=1e-14)
    return [found.params.tolist(), found.bse.tolist()]


serve({"logit": logit}, ["statsmodels", "numpy"])

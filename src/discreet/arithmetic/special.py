# ruff: noqa: PLC0414, ANN001, ANN002, ANN003, ANN202 names spelled out twice, once for type checkers
"""SciPy's special functions, loaded when the first of them is called: SciPy costs twice NumPy's time to import.

This is the one place that waits. Everything else imports these names at the top of its file, as if they were SciPy's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scipy.special import bdtr as bdtr
    from scipy.special import betainc as betainc
    from scipy.special import betaincc as betaincc
    from scipy.special import betainccinv as betainccinv
    from scipy.special import betaincinv as betaincinv
    from scipy.special import erfcx as erfcx
    from scipy.special import erfinv as erfinv
    from scipy.special import expit as expit
    from scipy.special import gammaln as gammaln
    from scipy.special import log_expit as log_expit
    from scipy.special import log_ndtr as log_ndtr
    from scipy.special import logit as logit
    from scipy.special import logsumexp as logsumexp
    from scipy.special import ndtr as ndtr
    from scipy.special import ndtri as ndtri
    from scipy.special import ndtri_exp as ndtri_exp
    from scipy.special import xlogy as xlogy
else:
    from functools import cache
    from importlib import import_module

    @cache
    def _found(name):
        return getattr(import_module("scipy.special"), name)

    def _later(name):
        """Return a function that calls SciPy's of this name, and imports it only then."""

        def call(*arguments, **options):
            return _found(name)(*arguments, **options)

        call.__name__ = call.__qualname__ = name
        return call

    bdtr = _later("bdtr")
    betainc = _later("betainc")
    betaincc = _later("betaincc")
    betainccinv = _later("betainccinv")
    betaincinv = _later("betaincinv")
    erfcx = _later("erfcx")
    erfinv = _later("erfinv")
    expit = _later("expit")
    gammaln = _later("gammaln")
    log_expit = _later("log_expit")
    log_ndtr = _later("log_ndtr")
    logit = _later("logit")
    logsumexp = _later("logsumexp")
    ndtr = _later("ndtr")
    ndtri = _later("ndtri")
    ndtri_exp = _later("ndtri_exp")
    xlogy = _later("xlogy")

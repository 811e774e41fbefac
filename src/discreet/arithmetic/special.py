# ruff: noqa: PLC0414, ANN001, ANN002, ANN003, ANN202 - names twice, for type checkers
"""Lazy import of SciPy's special functions, because importing SciPy takes twice NumPy's time.

SciPy is imported when the first of these functions is called. Other modules import the functions
from here, under the names that they have in `scipy.special`.
"""

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
    def _load(name):
        return getattr(import_module("scipy.special"), name)

    def _lazy(name):
        """Return a function that calls SciPy's function of this name, and imports it only then."""

        def call(*arguments, **options):
            return _load(name)(*arguments, **options)

        call.__name__ = call.__qualname__ = name
        return call

    bdtr = _lazy("bdtr")
    betainc = _lazy("betainc")
    betaincc = _lazy("betaincc")
    betainccinv = _lazy("betainccinv")
    betaincinv = _lazy("betaincinv")
    erfcx = _lazy("erfcx")
    erfinv = _lazy("erfinv")
    expit = _lazy("expit")
    gammaln = _lazy("gammaln")
    log_expit = _lazy("log_expit")
    log_ndtr = _lazy("log_ndtr")
    logit = _lazy("logit")
    logsumexp = _lazy("logsumexp")
    ndtr = _lazy("ndtr")
    ndtri = _lazy("ndtri")
    ndtri_exp = _lazy("ndtri_exp")
    xlogy = _lazy("xlogy")

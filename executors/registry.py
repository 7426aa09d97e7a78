"""The mechanisms that this installation has, each loaded when a file names it."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

from planner.mechanism import Derivation, Mechanism

__all__ = ["REGISTRY", "Registry"]

_FOLDERS: tuple[tuple[str, str, str], ...] = (
    ("TEST", "cox", "cox"),
    ("TEST", "score", "score"),
    ("TEST", "logrank", "logrank"),
    ("TEST", "hazard", "hazard"),
    ("RELEASE", "survival", "survival"),
    ("RELEASE", "hazard", "hazard_curve"),
    ("PEEL", "evalues", "peel"),
    ("COVARIANCE", "pace", "pace"),
    ("COVARIANCE", "ssp", "ssp"),
    ("COVARIANCE", "diagonal", "diagonal"),
    ("COVARIANCE", "adaptive", "adaptive"),
)
_DERIVATIONS: tuple[str, ...] = (
    "correlation",
    "regress",
    "pca",
    "sample",
    "heatmap",
    "ebh",
    "bonferroni",
)


@lru_cache(maxsize=64)
def _mechanism(folder: str) -> Mechanism:
    found = import_module(f"executors.mechanisms.{folder}").MECHANISM
    if not isinstance(found, Mechanism):
        raise TypeError(f"executors.mechanisms.{folder} holds no mechanism")
    return found


@lru_cache(maxsize=64)
def _derivation(name: str) -> Derivation:
    found = import_module(f"executors.derivations.{name}").DERIVATION
    if not isinstance(found, Derivation):
        raise TypeError(f"executors.derivations.{name} holds no derivation")
    return found


class Registry:
    """The catalogue of the mechanisms in this tree; none is loaded before it is asked for."""

    def find(self, verb: str, method: str) -> Mechanism | None:
        """The mechanism of a verb and method, or None."""
        for known_verb, known_method, folder in _FOLDERS:
            if (known_verb, known_method) == (verb, method):
                return _mechanism(folder)
        return None

    def methods(self, verb: str) -> tuple[str, ...]:
        """The methods of a verb."""
        return tuple(method for known, method, _ in _FOLDERS if known == verb)

    def verbs(self) -> tuple[str, ...]:
        """The verbs that have a method."""
        return tuple(dict.fromkeys(verb for verb, _, _ in _FOLDERS))

    def derivation(self, name: str) -> Derivation | None:
        """The function of DERIVE of that name, or None."""
        return _derivation(name) if name in _DERIVATIONS else None

    def derivations(self) -> tuple[str, ...]:
        """The functions of DERIVE."""
        return _DERIVATIONS


REGISTRY = Registry()

from collections.abc import Sequence
from os import PathLike
from typing import Any, Final, Protocol, TypedDict, final, type_check_only

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import Unpack

from truenorth._decisions import (
    BanditCounts,
    Choices,
    Counts,
    Decision,
    DriftDirection,
    Features,
    Intervals,
    Played,
)
from truenorth._explanations import Explanation
from truenorth._plot import Line, Row

__all__ = [
    "Audit",
    "Bandit",
    "BanditChoice",
    "Certificate",
    "Choice",
    "Fit",
    "Monitor",
    "Policy",
    "Recipe",
    "Summary",
    "Survey",
    "__version__",
    "compare_rows",
    "compare_tables",
    "curves_svg",
    "directions_svg",
    "evaluate_arrays",
    "evaluate_files",
    "look",
    "merge_summaries",
    "monitor_files",
    "presets",
    "reproduce",
    "simulate",
    "sql_cuts",
    "sql_summary_query",
    "sql_survey_query",
    "summarize_arrow",
    "summarize_files",
    "summarize_part",
    "summarize_rows",
    "survey_arrow",
    "svg_to_png",
]

__version__: Final[str]

_Path = str | PathLike[str]
_Floats = NDArray[np.float64]

@type_check_only
class _Sparse(Protocol):
    """A matrix of SciPy, in any of its formats."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    def tocsr(self) -> Any: ...

_Rows = ArrayLike | _Sparse
_Rounds = ArrayLike | Sequence[_Sparse]

@final
class Fit:
    def run(self) -> Fit: ...

@final
class Choice:
    def __new__(
        cls,
        *,
        action: int,
        ucb: float,
        lcb: float,
        mean: float,
        branch: str,
        decision: tuple[int, int],
        features: _Rows,
        propensity: float = 1.0,
        candidates: int = 1,
        conflicts: int = 0,
    ) -> Choice: ...
    action: Final[int]
    ucb: Final[float]
    lcb: Final[float]
    mean: Final[float]
    branch: Final[str]
    decision: Final[Decision]
    round: Final[int]
    layer: Final[int]
    propensity: Final[float]
    candidates: Final[int]
    conflicts: Final[int]
    features: Final[_Floats]
    columns: Final[NDArray[np.int64] | None]
    def __eq__(self, other: object, /) -> bool: ...

@final
class Certificate:
    @classmethod
    def from_matrix(cls, matrix: ArrayLike, rho: float) -> Certificate: ...
    @classmethod
    def isotropic(cls, dimension: int, rho: float) -> Certificate: ...
    @classmethod
    def from_budgets(cls, budgets: ArrayLike, rho: float | None = None) -> Certificate: ...
    @classmethod
    def from_directions(
        cls, directions: ArrayLike, budgets: ArrayLike, rest: float | None = None
    ) -> Certificate: ...
    @classmethod
    def load(cls, path: _Path, names: Sequence[str] | None = None) -> Certificate: ...
    def with_radius(self, rho: float) -> Certificate: ...
    matrix: Final[_Floats]
    rho: Final[float]
    dimension: Final[int]
    def bias_bound(self, x: ArrayLike) -> float: ...
    def worst_drift(self, x: ArrayLike) -> _Floats: ...
    def norm(self, drift: ArrayLike) -> float: ...
    def admits(self, drift: ArrayLike) -> bool: ...
    def directions(self) -> list[DriftDirection]: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Policy:
    def __new__(
        cls,
        preset: str = "truenorth",
        *,
        dimension: int | None = None,
        horizon: int | None = None,
        noise: float | None = None,
        norm_bound: float | None = None,
        ridge: float | None = None,
        delta: float | None = None,
        schedule: str | None = None,
        layering: str | None = None,
        branches: str | None = None,
        pooling: str | None = None,
        certificate: Certificate | str | Sequence[int] | None = None,
        width: str | None = None,
        explore: str | float | None = None,
        seed: int | None = None,
        exploration_scale: float | None = None,
        discount: float | None = None,
        season: int | None = None,
        half_life: float | None = None,
        sparse: bool | None = None,
        fits_beside: bool | None = None,
        offline: Summary | _Path | None = None,
    ) -> Policy: ...
    def choose(self, X: _Rows) -> Choice: ...
    def learn(
        self, choice: Choice | tuple[int, int], reward: float, features: _Rows | None = None
    ) -> None: ...
    def learn_many(
        self,
        choices: Choices | Sequence[Choice] | Sequence[tuple[int, int]] | NDArray[np.integer[Any]],
        rewards: ArrayLike,
        features: _Rows | None = None,
    ) -> None: ...
    def choose_many(self, X: _Rounds) -> Choices: ...
    def play(self, X: _Rounds, rewards: ArrayLike) -> Played: ...
    def intervals(self, X: _Rows, layer: int = 0) -> Intervals: ...
    def choose_explained(self, X: _Rows) -> tuple[Choice, Explanation]: ...
    def explain(self, X: _Rows) -> Explanation: ...
    def renew(self) -> None: ...
    def grow(self, dimension: int, names: Sequence[str] | None = None) -> None: ...
    def learn_row(self, x: _Rows, reward: float) -> None: ...
    def partial_fit(self, X: _Rows, y: ArrayLike) -> Policy: ...
    def begin_fit(self) -> Fit | None: ...
    def finish_fit(self, fit: Fit) -> None: ...
    def _choose_arms(
        self, contexts: ArrayLike, intercept: bool, arms: Sequence[int] | None = None
    ) -> list[int]: ...
    def _learn_arms(
        self, contexts: ArrayLike, intercept: bool, arms: Sequence[int], rewards: ArrayLike, rounds: bool
    ) -> None: ...
    def _log_arms(
        self, contexts: ArrayLike, intercept: bool, arms: Sequence[int], rewards: ArrayLike, names: Sequence[str]
    ) -> None: ...
    def _means_of_arms(self, contexts: ArrayLike, intercept: bool) -> _Floats: ...
    def add_logs(self, logs: Summary | _Path) -> None: ...
    @property
    def features(self) -> Features: ...
    @property
    def names(self) -> list[str] | None: ...
    @property
    def counts(self) -> Counts: ...
    @property
    def params(self) -> dict[str, Any]: ...
    @property
    def dimension(self) -> int: ...
    @property
    def noise(self) -> float: ...
    @property
    def level(self) -> float: ...
    @property
    def norm_bound(self) -> float: ...
    @property
    def logs_hold(self) -> float | None: ...
    @property
    def certificate(self) -> Certificate | None: ...
    @property
    def last_layer(self) -> int: ...
    def to_bytes(self) -> bytes: ...
    @classmethod
    def from_bytes(cls, data: bytes) -> Policy: ...
    def save(self, path: _Path) -> None: ...
    @classmethod
    def load(cls, path: _Path) -> Policy: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __copy__(self) -> Policy: ...
    def __deepcopy__(self, _memo: Any, /) -> Policy: ...

@type_check_only
class _Settings(TypedDict, total=False):
    horizon: int | None
    noise: float | None
    norm_bound: float | None
    ridge: float | None
    delta: float | None
    schedule: str | None
    layering: str | None
    branches: str | None
    pooling: str | None
    certificate: Certificate | str | Sequence[int] | None
    width: str | None
    explore: str | float | None
    seed: int | None
    exploration_scale: float | None
    discount: float | None
    season: int | None
    half_life: float | None
    sparse: bool | None
    fits_beside: bool | None

@final
class BanditChoice:
    def __new__(
        cls,
        *,
        id: str,
        index: int,
        probability: float,
        decision_id: str,
        mean: float,
        lcb: float,
        ucb: float,
        branch: str,
    ) -> BanditChoice: ...
    id: Final[str]
    index: Final[int]
    probability: Final[float]
    decision_id: Final[str]
    mean: Final[float]
    lcb: Final[float]
    ucb: Final[float]
    branch: Final[str]
    def __eq__(self, other: object, /) -> bool: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

@final
class Bandit:
    def __new__(
        cls,
        logs: Summary | _Path,
        policy: str = "truenorth",
        *,
        joining: int = 1000,
        open: int = 100_000,
        age: int = 1_000_000,
        **settings: Unpack[_Settings],
    ) -> Bandit: ...
    def choose(self, context: Any, actions: Any = None, *, decision_id: str | None = None) -> BanditChoice: ...
    def learn(self, decision_id: str | BanditChoice, reward: float) -> None: ...
    def learn_rows(self, rows: Any, *, reward: str = "reward", chosen: str | None = None) -> int: ...
    def partial_fit(self, rows: Any, *, reward: str = "reward", chosen: str | None = None) -> Bandit: ...
    def encode(self, context: Any, actions: Any = None) -> Any: ...
    def intervals(self, context: Any, actions: Any = None) -> Intervals: ...
    def explain(self, context: Any, actions: Any = None) -> Explanation: ...
    def renew(self) -> None: ...
    def begin_fit(self) -> Fit | None: ...
    def finish_fit(self, fit: Fit) -> None: ...
    def watch(self, level: float = 0.05) -> None: ...
    @property
    def watched(self) -> dict[str, Any] | None: ...
    def add_logs(self, logs: Summary | _Path) -> None: ...
    @property
    def model(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def features(self) -> Features: ...
    @property
    def counts(self) -> BanditCounts: ...
    @property
    def joined(self) -> list[str]: ...
    @property
    def unknown_fields(self) -> dict[str, int]: ...
    @property
    def policy(self) -> Policy: ...
    def to_bytes(self) -> bytes: ...
    @classmethod
    def from_bytes(cls, data: bytes) -> Bandit: ...
    def save(self, path: _Path) -> None: ...
    @classmethod
    def load(cls, path: _Path) -> Bandit: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __copy__(self) -> Bandit: ...
    def __deepcopy__(self, _memo: Any, /) -> Bandit: ...

@final
class Summary:
    rows: Final[int]
    dimension: Final[int]
    names: Final[list[str]]
    model: Final[str]
    warnings: Final[list[str]]
    recipe: Final[dict[str, Any]]
    gram: Final[_Floats]
    moment: Final[_Floats]
    def encode(self, events: Any) -> Any: ...
    mean_reward: Final[float]
    scale: Final[float]
    files: Final[dict[str, int]]
    rejected: Final[list[tuple[str, int, str]]]
    def to_bytes(self) -> bytes: ...
    @classmethod
    def from_bytes(cls, data: bytes) -> Summary: ...
    @classmethod
    def from_sql(cls, answer: Any, name: str = "database") -> Summary: ...
    def save(self, path: _Path) -> None: ...
    @classmethod
    def load(cls, path: _Path) -> Summary: ...
    def __add__(self, other: Summary, /) -> Summary: ...
    def __radd__(self, other: Summary, /) -> Summary: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Survey:
    rows: Final[int]
    needs_rows: Final[bool]
    columns: Final[list[str]]
    def recipe(self) -> Recipe: ...
    def to_bytes(self) -> bytes: ...
    @classmethod
    def from_bytes(cls, data: bytes) -> Survey: ...
    def __add__(self, other: Survey, /) -> Survey: ...
    def __radd__(self, other: Survey, /) -> Survey: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Recipe:
    model: Final[str]
    columns: Final[list[str]]
    warnings: Final[list[str]]
    def to_bytes(self) -> bytes: ...
    @classmethod
    def from_bytes(cls, data: bytes) -> Recipe: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Audit:
    def __new__(
        cls,
        summary: Summary,
        pilot: Any,
        *,
        round: str | None,
        format: str | None,
        level: float,
        margin: float,
        drift: float | None,
        horizon: int,
        actions: int,
    ) -> Audit: ...
    def json(self) -> str: ...
    def html(self, source: str) -> str: ...
    def certificate_toml(self, source: str) -> str: ...
    @property
    def certificate(self) -> Certificate: ...

@final
class Monitor:
    def __new__(cls, dimension: int, level: float = 0.05) -> Monitor: ...
    def observe(self, x: ArrayLike, reward: float) -> None: ...
    def observe_round(self, X: ArrayLike, rewards: ArrayLike) -> None: ...
    def grow(self, dimension: int) -> None: ...
    @property
    def moved(self) -> bool: ...
    @property
    def watching(self) -> bool: ...
    @property
    def evidence(self) -> dict[str, Any]: ...
    @property
    def features(self) -> list[dict[str, Any]]: ...
    @property
    def rounds(self) -> int: ...
    @property
    def dimension(self) -> int: ...
    @property
    def level(self) -> float: ...
    def to_bytes(self) -> bytes: ...
    @classmethod
    def from_bytes(cls, data: bytes) -> Monitor: ...

def presets() -> list[str]: ...
def evaluate_files(
    files: Sequence[_Path],
    told: dict[str, Any],
    policy: str,
    summary: Summary | None,
    probability: str | None,
    seed: int,
    frozen: bool,
) -> str: ...
def evaluate_arrays(
    rewards: ArrayLike,
    probabilities: ArrayLike,
    target: ArrayLike,
    predicted: ArrayLike | None,
    predicted_target: ArrayLike | None,
) -> str: ...
def monitor_files(
    files: Sequence[_Path], summary: Summary | None, model: str | None, format: str | None, level: float
) -> str: ...
def summarize_files(files: Sequence[_Path], told: dict[str, Any]) -> Summary: ...
def summarize_arrow(data: Any, name: str, told: dict[str, Any]) -> Summary: ...
def survey_arrow(data: Any, name: str, told: dict[str, Any]) -> Survey: ...
def summarize_part(data: Any, name: str, recipe: Recipe, part: int | None = None) -> Summary: ...
def merge_summaries(parts: Sequence[Summary]) -> Summary: ...
def sql_survey_query(asked: dict[str, Any]) -> str | None: ...
def sql_summary_query(asked: dict[str, Any]) -> str: ...
def sql_cuts(answer: Any) -> dict[str, list[float]]: ...
def summarize_rows(
    Z: ArrayLike, y: ArrayLike, names: Sequence[str], reward: str, told: dict[str, Any]
) -> Summary: ...
def simulate(path: _Path, content: bytes, runs: int | None, threads: int) -> tuple[str, list[str]]: ...
def reproduce(
    study: str,
    runs: int,
    horizon: int,
    seed: int,
    policies: Sequence[str] | None,
    as_printed: bool,
    certificate: str | None,
    threads: int,
) -> tuple[str, list[str]]: ...
def compare_tables(
    offline: Any,
    online: Any,
    model: str | None,
    features: str,
    action: str,
    reward: str,
    round: str,
    told: dict[str, Any],
) -> str: ...
def compare_rows(
    offline: tuple[ArrayLike, ArrayLike] | None, online: tuple[ArrayLike, ArrayLike], told: dict[str, Any]
) -> str: ...
def curves_svg(
    title: str, x_label: str, y_label: str, panels: Sequence[tuple[str, Sequence[Line]]], linear: bool
) -> str: ...
def directions_svg(title: str, notes: tuple[str, str, str], rows: Sequence[Row]) -> str: ...
def svg_to_png(svg: str) -> bytes: ...
def look(names: Sequence[str]) -> list[tuple[str, str]]: ...

"""Linear contextual bandits that use biased logs where they still point true."""

from truenorth._audit import Audit, audit
from truenorth._decisions import (
    BanditCounts,
    Choices,
    Counts,
    Decision,
    DriftDirection,
    Features,
    FeatureView,
    Intervals,
    Played,
)
from truenorth._errors import BanditError
from truenorth._experiments import Comparison, Results, compare, reproduce, simulate
from truenorth._explanations import ActionInterval, BranchInterval, Explanation, LayerExplanation
from truenorth._native import (
    Bandit,
    BanditChoice,
    Certificate,
    Choice,
    Fit,
    Policy,
    Recipe,
    Summary,
    Survey,
    __version__,
    presets,
)
from truenorth._plot import Picture
from truenorth._summaries import merge, summarize, survey

__all__ = [
    "ActionInterval",
    "Audit",
    "Bandit",
    "BanditChoice",
    "BanditCounts",
    "BanditError",
    "BranchInterval",
    "Certificate",
    "Choice",
    "Choices",
    "Comparison",
    "Counts",
    "Decision",
    "DriftDirection",
    "Explanation",
    "FeatureView",
    "Features",
    "Fit",
    "Intervals",
    "LayerExplanation",
    "Picture",
    "Played",
    "Policy",
    "Recipe",
    "Results",
    "Summary",
    "Survey",
    "__version__",
    "audit",
    "compare",
    "merge",
    "presets",
    "reproduce",
    "simulate",
    "summarize",
    "survey",
]

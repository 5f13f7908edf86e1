"""Linear contextual bandits that use biased logs where they still point true."""

from truenorth._audit import Audit, audit
from truenorth._client import Client
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
from truenorth._live import Evaluation, Watch, evaluate, monitor, off_policy
from truenorth._native import (
    Bandit,
    BanditChoice,
    Certificate,
    Choice,
    Fit,
    Monitor,
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
    "Client",
    "Comparison",
    "Counts",
    "Decision",
    "DriftDirection",
    "Evaluation",
    "Explanation",
    "FeatureView",
    "Features",
    "Fit",
    "Intervals",
    "LayerExplanation",
    "Monitor",
    "Picture",
    "Played",
    "Policy",
    "Recipe",
    "Results",
    "Summary",
    "Survey",
    "Watch",
    "__version__",
    "audit",
    "compare",
    "evaluate",
    "merge",
    "monitor",
    "off_policy",
    "presets",
    "reproduce",
    "simulate",
    "summarize",
    "survey",
]

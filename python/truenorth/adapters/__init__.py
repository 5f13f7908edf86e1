"""truenorth under the names and calls of other libraries.

====================  =====================================================================
`MAB`                 MABWiser: ``fit``, ``partial_fit``, ``predict``, ``predict_expectations``
`Bandit`              River: ``pull``, ``update``, with contexts that are dictionaries
`OpenBanditPolicy`    Open Bandit Pipeline: ``select_action``, ``update_params``
`BanditRegressor`     scikit-learn: ``fit``, ``partial_fit``, ``predict``, ``score``
====================  =====================================================================

None of these libraries is imported or needed.
"""

from truenorth.adapters._mab import MAB
from truenorth.adapters._open_bandit import OpenBanditPolicy, summary_from_bandit_feedback
from truenorth.adapters._regressor import BanditRegressor
from truenorth.adapters._river import Bandit

__all__ = ["MAB", "Bandit", "BanditRegressor", "OpenBanditPolicy", "summary_from_bandit_feedback"]

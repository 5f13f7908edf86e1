# %% [markdown]
# # Can we use our logs?
#
# A shop has logs from last year: what was shown, and what it earned. This year it has a few hundred live rows. Does
# what the logs say still hold? An audit tells, feature by feature.
#
# Needs pandas and pyarrow. Pictures go to the folder in the variable `OUT`, or to a temporary one.

# %%
import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import truenorth

folder = Path(os.environ.get("OUT") or tempfile.mkdtemp())
rng = np.random.default_rng(3)

# %% [markdown]
# ## The logs
#
# Made on the spot. The old policy liked cheap items, so that dear ones are rare in the logs. That is no problem: a
# regression is right whoever chose. Since then, people have come to mind the price less: that is the drift.

# %%
FEATURES = ["price", "rating", "delivery_days"]


def rows(count: int, price_effect: float) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "price": rng.gamma(2.0, 1.5, size=count),
            "rating": rng.uniform(1, 5, size=count).round(1),
            "delivery_days": rng.integers(1, 8, size=count),
        }
    )
    mean = 1.0 + price_effect * frame["price"] + 0.2 * frame["rating"] - 0.05 * frame["delivery_days"]
    frame["reward"] = mean + rng.normal(scale=0.4, size=count)
    return frame


logs = rows(20_000, price_effect=-0.20)
live = rows(500, price_effect=-0.08)
print(logs.head(3).round(2).to_string(index=False))

# %% [markdown]
# ## The summary
#
# All that a policy or an audit needs of the logs, whatever their size. It is small, and summaries add up: one for each
# day or machine, and `sum` them.

# %%
summary = truenorth.summarize(logs, features=FEATURES, reward="reward", intercept=True)
summary.save(folder / "logs.tn")
print(f"\n{len(logs):,} rows are a summary of {(folder / 'logs.tn').stat().st_size:,} bytes")

# %% [markdown]
# ## The audit
#
# The live rows are the pilot. False alarms are held to 5 % over all features together.

# %%
found = truenorth.audit(summary, pilot=live)
print(f"\n{found.verdict['sentence']}\n")
table = pd.DataFrame(found.features)[["name", "drift", "stderr", "drifted", "trust"]]
print(table.round(3).to_string(index=False))

# %% [markdown]
# The price's coefficient went from -0.20 to -0.08, so that its drift is 0.12. In a notebook, `found` shows the report,
# and `found.plot()` the picture.

# %%
found.save(folder / "report.html")
found.plot(own=True).save(folder / "audit.svg")
print("\nwritten:", ", ".join(sorted(path.name for path in folder.iterdir())))

# %% [markdown]
# ## What now?
#
# Give the summary to a policy: it finds out by itself where the logs still hold. Nobody has to be told about the price.

# %%
today = rows(5000, price_effect=-0.08)
X = np.insert(today[FEATURES].to_numpy(dtype=float), 0, 1.0, axis=1).reshape(1000, 5, 4)  # five items at a time
policy = truenorth.Policy("truenorth", offline=summary)
played = policy.play(X, today["reward"].to_numpy().reshape(1000, 5))
print(f"\nmean reward {played.mean_reward:.2f}; of a uniform choice {today['reward'].mean():.2f}")
print("reliance on the logs after 1,000 live rounds:")
for name, view in zip(summary.names, policy.features):
    print(f"  {name:14} {view.trust:4.0%}")

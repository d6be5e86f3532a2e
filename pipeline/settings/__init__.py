"""Settings, in rising precedence: the defaults, the file of HOPRANK_CONFIG, the environment, flags.

A section declares the allowed values; its defaults are in TOML only: in ``configs/default.toml``, and those of a domain
in its ``defaults.toml``. What was learned is no setting but data, in ``weights.toml``. Only
:mod:`pipeline.settings.load` reads settings from the environment. All others receive values.
"""

from pipeline.settings.load import Provenance, Settings, load_settings, provenance, toml_value
from pipeline.settings.sections import (
    AskSettings,
    LinkSettings,
    ObserveSettings,
    RaySettings,
    RetrieveSettings,
    Section,
    ServeSettings,
    WalkSettings,
)
from pipeline.settings.weights import NameSettings, RelevanceSettings, ScorerSettings, Weights

"""What every test of the house has: none fails because a machine is slow, or by the day's luck.

The examples of hypothesis are the same in every run. `pytest --hypothesis-profile=explore` draws
new ones, and more of them: to look for bugs, not to guard a change.
"""

from hypothesis import HealthCheck, settings

_CALM = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("dpql", _CALM, derandomize=True)
settings.register_profile("explore", _CALM, derandomize=False, max_examples=1000)
settings.load_profile("dpql")

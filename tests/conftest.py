"""What every test of the house has: no test fails because a machine is slow."""

from hypothesis import settings

settings.register_profile("dpql", deadline=None)
settings.load_profile("dpql")

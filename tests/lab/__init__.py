"""Many real SSH machines on one Linux box, with faults, to test against.  See README.md."""
from .api import Lab
from .needs import missing
from .system import LabError

__all__ = ["Lab", "LabError", "missing"]

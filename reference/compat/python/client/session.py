"""`tensorflow.python.client.session`: the sessions, and names that only this module has."""

from sessrun.reference.build.expansions import register_session_run_conversion_functions
from sessrun.reference.devices.devices import DeviceAttributes as _DeviceAttributes
from sessrun.reference.session.interactive import InteractiveSession
from sessrun.reference.session.session import BaseSession, Session

__all__ = [
    "BaseSession",
    "InteractiveSession",
    "Session",
    "_DeviceAttributes",
    "register_session_run_conversion_functions",
]

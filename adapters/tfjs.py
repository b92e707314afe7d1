"""The adapters of TensorFlow.js: programs of Node, each in its own process (`javascript/`)."""

from __future__ import annotations

from sessrun.adapters.process.host import ProcessBackend, spawn

__all__ = ["cpu", "wasm", "webgl"]


def cpu(folder: str = "") -> ProcessBackend:
    """TensorFlow.js with its backend in plain JavaScript.

    Args:
      folder: where `npm install` put its packages; the working folder if it is empty.

    Raises:
      AdapterError: Node or a package is missing.

    """
    return spawn(f"tfjs-cpu#{folder}")


def wasm(folder: str = "") -> ProcessBackend:
    """TensorFlow.js with its backend in WebAssembly; see `cpu`."""
    return spawn(f"tfjs-wasm#{folder}")


def webgl(folder: str = "") -> ProcessBackend:
    """TensorFlow.js with its backend in WebGL, in a headless Chromium; see `cpu`."""
    return spawn(f"tfjs-webgl#{folder}")

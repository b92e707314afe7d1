"""sessrun: what `sess.run(fetches, feed_dict)` must do, stated, implemented and checked."""

from typing import Final

__all__ = ["__version__"]

__version__: Final = "0.1.0"

"""The process protocol: a backend in a process of its own, in any language, over stdio."""

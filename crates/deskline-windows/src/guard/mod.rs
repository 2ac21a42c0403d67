//! The guard: low-level hooks in a process of its own.

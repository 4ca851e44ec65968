//! The real program, in a folder of its own.

//! Whole jobs, with every choice made at run time.

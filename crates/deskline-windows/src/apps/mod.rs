//! Apps: which run, starting one, how far a started one has come.

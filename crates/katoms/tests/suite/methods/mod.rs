//! Every method of the catalogue: planted problems, equivalences, pass counts. One file for each family.

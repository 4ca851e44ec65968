//! What the figures claim, as tests. They are unit tests, because tests in a folder of their own would have
//! every bin built first.

mod best;
mod heart;
mod methods;

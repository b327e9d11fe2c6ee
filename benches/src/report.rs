//! How results are shown: while they come, as a document, as pictures.

pub(crate) mod markdown;
pub(crate) mod plot;
mod sections;
mod svg;
pub(crate) mod table;

//! Time as the backend's clock tells it (laws D6–D8).

pub(crate) mod instant;
pub(crate) mod interval;
pub(crate) mod sleep;
pub(crate) mod timer;
pub(crate) mod yielding;

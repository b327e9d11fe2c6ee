//! What must not compile, each with a twin that does.
//!
//! # A child outlives the body, so it cannot borrow from it or from around it (law G1)
//!
//! ```compile_fail,E0597
//! use brigade_combinators::TaskGroup;
//! use brigade_core::BoxError;
//!
//! async fn kitchen() {
//!     let order = String::from("fish");
//!     let _ = TaskGroup::<BoxError>::scope(async |group| {
//!         let order = &order;
//!         group.spawn(async move { drop(order.len()); Ok(()) });
//!         Ok(())
//!     }).await;
//! }
//! ```
//!
//! ```
//! use brigade_combinators::TaskGroup;
//! use brigade_core::BoxError;
//!
//! async fn kitchen() {
//!     let order = String::from("fish");
//!     let _ = TaskGroup::<BoxError>::scope(async |group| {
//!         let order = order.clone();
//!         group.spawn(async move { drop(order.len()); Ok(()) });
//!         Ok(())
//!     }).await;
//! }
//! ```
//!
//! # A child that is not `Send` is spawned by `spawn_local`
//!
//! ```compile_fail,E0277
//! use brigade_combinators::TaskGroup;
//! use brigade_core::{BoxError, yield_now};
//!
//! async fn kitchen() {
//!     let _ = TaskGroup::<BoxError>::scope(async |group| {
//!         let order = std::rc::Rc::new("fish");
//!         group.spawn(async move { yield_now().await; drop(order); Ok(()) });
//!         Ok(())
//!     }).await;
//! }
//! ```
//!
//! ```
//! use brigade_combinators::TaskGroup;
//! use brigade_core::{BoxError, yield_now};
//!
//! async fn kitchen() {
//!     let _ = TaskGroup::<BoxError>::scope(async |group| {
//!         let order = std::rc::Rc::new("fish");
//!         group.spawn_local(async move { yield_now().await; drop(order); Ok(()) });
//!         Ok(())
//!     }).await;
//! }
//! ```
//!
//! # A child and a branch return `()` or `Result<T, E>` (laws T1, G1, A1)
//!
//! ```compile_fail,E0277
//! use brigade_combinators::TaskGroup;
//! use brigade_core::BoxError;
//!
//! async fn kitchen() {
//!     let _ = TaskGroup::<BoxError>::scope(async |group| {
//!         group.spawn(async { 7 });
//!         Ok(())
//!     }).await;
//! }
//! ```
//!
//! ```compile_fail,E0277
//! async fn kitchen() {
//!     let _ = brigade_combinators::gather(vec![async { 7 }]).await;
//! }
//! ```
//!
//! ```
//! use brigade_combinators::TaskGroup;
//! use brigade_core::BoxError;
//!
//! async fn kitchen() {
//!     let _ = TaskGroup::<BoxError>::scope(async |group| {
//!         group.spawn(async { Ok(7) });
//!         Ok(())
//!     }).await;
//!     let _ = brigade_combinators::gather(vec![async { Ok::<_, BoxError>(7) }]).await;
//! }
//! ```
//!
//! # A task is given to an aggregate once (law A1)
//!
//! ```compile_fail,E0382
//! async fn kitchen(task: brigade_core::Task<(), brigade_core::BoxError>) {
//!     let _ = brigade_combinators::gather([task, task]).await;
//! }
//! ```
//!
//! ```
//! async fn kitchen(task: brigade_core::Task<(), brigade_core::BoxError>) {
//!     let _ = brigade_combinators::gather([task]).await;
//! }
//! ```

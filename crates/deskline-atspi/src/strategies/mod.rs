//! The strategies by which an app is read. Each uses the engine; the engine knows none of them.
//!
//! | strategy | for | uses |
//! |---|---|---|
//! | [`bulk_cache`] | an app whose toolkit gives all it has in one call | |
//! | [`reuse`] | hidden nodes, level by level, and hidden subtrees of a link's second traversal | |
//! | [`documents`] | an app's other documents, which nobody sees | `reuse` |
//! | [`recycled`] | rows that were in view before | |
//! | [`stacked`] | pages that are behind another | |
//! | [`gaps`] | rows that GTK 4 does not list | |
//! | [`read_on`] | between links: nodes the last reading had no time for | `large_list`, `reuse` |
//! | [`large_list`] | containers of more than 500 children | `linked`, `reuse` |
//! | [`linked`] | children by their hyperlinks | |
//! | [`table`] | tables that create their cells on request | |
//! | [`spreadsheet`] | LibreOffice's cells, whose objects are kept alive | `table` |
//! | [`keep_alive`] | LibreOffice's cells between readings | `spreadsheet` |
//! | [`managed`] | containers that manage descendants | `large_list`, `table`, `spreadsheet` |
//! | [`unlisted`] | open menus of Qt's buttons | |
//! | [`embedded`] | objects of another process, such as web views | `large_list` |

pub(crate) mod bulk_cache;
pub mod documents;
pub mod embedded;
pub(crate) mod gaps;
pub mod keep_alive;
pub(crate) mod large_list;
pub mod linked;
pub mod managed;
pub(crate) mod read_on;
pub(crate) mod recycled;
pub mod reuse;
pub mod spreadsheet;
pub mod stacked;
pub mod table;
pub mod unlisted;

//! Scenarios on a fake Mac: real links with the real transaction.

mod context_menus;
mod coordinates;
mod desk;
pub(crate) mod fake;
mod first_hour;
mod first_minutes;
mod front;
mod guard;
mod links;
mod menu_bar;
mod messages;
mod odd_apps;
mod paste;
mod permissions;
mod pictures;
mod pointer;
mod promises;
mod reading;
mod selftest;
mod several_windows;
mod slow_parts;
mod spaces;
mod stage_manager;
#[path = "../../deskline-contract/tests/suite/mod.rs"]
mod suite;
mod terminal;
mod typing;
mod waking;
mod ways_to_act;

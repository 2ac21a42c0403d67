//! The messages between server and keeper, on any bytes.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use deskline_fuzz::fuzz;
use deskline_grab::message::{Message, Order, Outcome, Report, SIZE, Seen, pair, receive};
use rustix::net::{SendFlags, send};

#[test]
fn fuzz_any_bytes_are_a_message_or_an_error() {
    let grab = Order::Grab {
        link: 7,
        pointer: true,
        limit: Duration::from_secs(30),
    };
    let seen = Seen {
        readable: 3,
        closed: 1,
        allowed: true,
    };
    let orders = [Order::Look, grab, Order::Release, Order::Watch, Order::Rest];
    let reports = [
        Report::Seen(seen),
        Report::Grabbed(Outcome::Closed(2)),
        Report::Escape(7),
    ];
    let corpus: Vec<[u8; SIZE]> = orders
        .map(Message::bytes)
        .into_iter()
        .chain(reports.map(Message::bytes))
        .collect();
    let (server, keeper) = pair().unwrap();
    fuzz("messages of the keeper", &corpus, |input| {
        if let Ok(bytes) = <[u8; SIZE]>::try_from(input) {
            assert!(Order::parse(bytes).is_none_or(|order| order.bytes() == bytes));
            assert!(Report::parse(bytes).is_none_or(|report| report.bytes() == bytes));
        }
        // An empty message is the end of a connection.
        if input.is_empty() {
            return;
        }
        send(&server, input, SendFlags::empty()).unwrap();
        let heard = receive::<Order>(&keeper, false);
        assert!(!matches!(heard, Ok(None)));
    });
}

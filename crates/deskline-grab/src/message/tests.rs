use super::*;

const ORDERS: [Order; 7] = [
    Order::Look,
    Order::Grab {
        link: 0,
        pointer: false,
        limit: Duration::ZERO,
    },
    Order::Grab {
        link: u32::MAX,
        pointer: true,
        limit: Duration::from_millis(u32::MAX as u64),
    },
    Order::Release,
    Order::Watch,
    Order::Pressed,
    Order::Rest,
];

fn all_reports() -> Vec<Report> {
    let seen = |readable, closed, allowed| {
        Report::Seen(Seen {
            readable,
            closed,
            allowed,
        })
    };
    let pressed = [None, Some(false), Some(true)];
    let mut all = vec![
        seen(3, 0, true),
        seen(0, u16::MAX, false),
        Report::Released,
        Report::Escape(7),
        Report::Limit(u32::MAX),
        Report::Lost(0),
    ];
    all.extend(OUTCOMES.map(Report::Grabbed));
    all.push(Report::Grabbed(Outcome::Closed(u16::MAX)));
    all.extend(pressed.map(Report::Pressed));
    all
}

/// Changes each bit of a message in turn.
fn flipped(bytes: Bytes) -> impl Iterator<Item = Bytes> {
    (0..SIZE * 8).map(move |bit| {
        let mut bytes = bytes;
        bytes[bit / 8] ^= 1 << (bit % 8);
        bytes
    })
}

#[test]
fn messages_are_parsed_back_and_other_bytes_are_not() {
    for order in ORDERS {
        assert_eq!(Order::parse(order.bytes()), Some(order));
        for other in flipped(order.bytes()) {
            let read = Order::parse(other);
            assert_eq!(read.map(Order::bytes), read.map(|_| other), "{order:?}");
            assert_ne!(read, Some(order));
        }
    }
    for report in all_reports() {
        assert_eq!(Report::parse(report.bytes()), Some(report));
        for other in flipped(report.bytes()) {
            let read = Report::parse(other);
            assert_eq!(read.map(Report::bytes), read.map(|_| other), "{report:?}");
        }
    }
    // A field that the message does not use.
    let mut rest = Order::Rest.bytes();
    rest[11] = 1;
    assert_eq!(Order::parse(rest), None);
    assert_eq!(Order::parse([0; SIZE]), None);
}

#[test]
fn malformed_messages_on_the_socket_are_an_error() {
    let kind = |sent: &[u8]| {
        let (server, keeper) = pair().unwrap();
        rustix::net::send(&server, sent, SendFlags::empty()).unwrap();
        let heard = receive::<Order>(&keeper, false);
        heard.unwrap_err().kind()
    };
    assert_eq!(kind(&[1; 40]), io::ErrorKind::InvalidData);
    assert_eq!(kind(&[1; 4]), io::ErrorKind::InvalidData);
    let mut long = Order::Look.bytes().to_vec();
    long.push(0);
    assert_eq!(kind(&long), io::ErrorKind::InvalidData);
    assert_eq!(kind(&[]), io::ErrorKind::UnexpectedEof);

    let (server, keeper) = pair().unwrap();
    assert_eq!(receive::<Order>(&keeper, false).unwrap(), None);
    send(&server, Order::Watch).unwrap();
    drop(server);
    assert_eq!(receive(&keeper, true).unwrap(), Some(Order::Watch));
    let end = receive::<Order>(&keeper, true).unwrap_err();
    assert_eq!(end.kind(), io::ErrorKind::UnexpectedEof);
}

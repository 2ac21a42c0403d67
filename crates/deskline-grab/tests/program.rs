//! The program itself, as anybody may start it. It has the rights of whoever runs the tests.
#![allow(clippy::unwrap_used)]

use std::os::fd::OwnedFd;
use std::process::{Child, Command, Output, Stdio};

use deskline_grab::message::{Order, Said, hear, pair, say};

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deskline-grab"));
    command.stdin(Stdio::null());
    command
}

fn refused(command: &mut Command) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    assert_eq!(status.code(), Some(1));
    assert!(stdout.is_empty());
    String::from_utf8(stderr).unwrap()
}

fn started() -> (OwnedFd, Child) {
    let (socket, orders) = pair().unwrap();
    let child = program().stdin(orders).spawn().unwrap();
    (socket, child)
}

#[test]
fn it_refuses_arguments_and_whoever_is_no_server() {
    for argument in ["--help", "/tmp", ""] {
        let said = refused(program().arg(argument));
        assert_eq!(said, "deskline-grab: it takes no arguments\n");
    }
    for stdin in [Stdio::null(), Stdio::piped()] {
        let said = refused(program().stdin(stdin));
        assert!(said.contains("started by Deskline's server"), "{said}");
    }
    // A socket of the other kind.
    let (socket, other) = std::os::unix::net::UnixStream::pair().unwrap();
    let said = refused(program().stdin(OwnedFd::from(other)));
    assert!(said.contains("started by Deskline's server"), "{said}");
    drop(socket);
}

#[test]
fn it_obeys_its_parent_and_ends_with_the_socket() {
    let (socket, mut child) = started();
    say(&socket, Order::Look).unwrap();
    assert!(matches!(hear(&socket, true).unwrap(), Some(Said::Seen(_))));
    say(&socket, Order::Release).unwrap();
    assert_eq!(hear(&socket, true).unwrap(), Some(Said::Released));
    drop(socket);
    assert!(child.wait().unwrap().success());
}

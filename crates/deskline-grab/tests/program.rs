//! Starts the program with the rights of the user who runs the tests.
#![allow(clippy::unwrap_used)]

use std::os::fd::OwnedFd;
use std::process::{Child, Command, Output, Stdio};

use deskline_grab::message::{Order, Report, pair, receive, send};

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
fn the_program_refuses_arguments_and_any_caller_but_the_server() {
    for argument in ["--help", "/tmp", ""] {
        let error = refused(program().arg(argument));
        assert_eq!(error, "deskline-grab: it takes no arguments\n");
    }
    for stdin in [Stdio::null(), Stdio::piped()] {
        let error = refused(program().stdin(stdin));
        assert!(error.contains("started by Deskline's server"), "{error}");
    }
    // A stream socket.
    let (socket, other) = std::os::unix::net::UnixStream::pair().unwrap();
    let error = refused(program().stdin(OwnedFd::from(other)));
    assert!(error.contains("started by Deskline's server"), "{error}");
    drop(socket);
}

#[test]
fn the_program_carries_out_orders_and_ends_with_the_socket() {
    let (socket, mut child) = started();
    send(&socket, Order::Look).unwrap();
    assert!(matches!(
        receive(&socket, true).unwrap(),
        Some(Report::Seen(_))
    ));
    send(&socket, Order::Release).unwrap();
    assert_eq!(receive(&socket, true).unwrap(), Some(Report::Released));
    drop(socket);
    assert!(child.wait().unwrap().success());
}

//! The session bus, with a time limit on every wait.

use std::collections::HashMap;
use std::ops::Deref;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use deskline_contract::{Error, Result};
use deskline_unix::wait;
use serde::de::DeserializeOwned;
use zbus::blocking::{Connection, MessageIterator};
use zbus::zvariant::{self, DynamicDeserialize, OwnedObjectPath, OwnedValue, Type, Value};
use zbus::{MatchRule, Message};

pub(crate) use crate::dbus::On;
use crate::dbus::{self, Arguments};

/// How long Mutter may take to answer. Measured: 0.5 s with twelve busy processes on two cores, and
/// once more than 2 s. A shell that hangs stops the whole desktop, so a shorter limit gains
/// nothing.
const PATIENCE: Duration = Duration::from_secs(10);

/// Options of a method by name.
pub(crate) type Options<'v> = HashMap<&'static str, Value<'v>>;

/// A connection, for calls.
#[derive(Debug, Clone)]
pub(crate) struct Calls {
    connection: Connection,
}

/// A connection, and the signals of the objects that it listens to.
#[derive(Debug)]
pub(crate) struct Bus {
    pub(crate) calls: Calls,
    heard: Sender<Message>,
    signals: Receiver<Message>,
}

impl Deref for Bus {
    type Target = Calls;

    fn deref(&self) -> &Calls {
        &self.calls
    }
}

fn failed(what: &'static str) -> impl Fn(zbus::Error) -> Error {
    move |e| match e {
        zbus::Error::InputOutput(_) => Error::lost(what)(e),
        e => Error::system(what)(e),
    }
}

impl Bus {
    /// Connects to the bus at `address`.
    pub(crate) fn connect(address: &str) -> Result<Self> {
        let (heard, signals) = channel();
        Ok(Self {
            calls: Calls::connect(address)?,
            heard,
            signals,
        })
    }

    /// Subscribes to the signals of the objects that the owner of `name` has under `namespace`.
    pub(crate) fn listen(&self, name: &str, namespace: &str) -> Result<()> {
        let signals = self.signals(name, namespace)?;
        let heard = self.heard.clone();
        // The subscription ends with the connection.
        std::thread::spawn(move || {
            for message in signals.flatten() {
                if heard.send(message).is_err() {
                    return;
                }
            }
        });
        Ok(())
    }

    /// Waits for a signal of an object that the owner of `name` has. Drops all other signals: every
    /// program of the session can send some.
    pub(crate) fn wait(
        &self,
        name: &str,
        path: &str,
        signal: &str,
        limit: Duration,
    ) -> Result<Message> {
        let owner = self.owner(name)?;
        let is = |message: Message| is_from(&message, &owner, path, signal).then_some(message);
        wait::received(&self.signals, limit, is).ok_or_else(|| {
            Error::system("waiting for Mutter")(format!("no signal {signal} in time"))
        })
    }
}

impl Calls {
    pub(crate) fn connect(address: &str) -> Result<Self> {
        let what = "connecting to the session bus";
        let connection = dbus::connect(address, PATIENCE).map_err(failed(what))?;
        Ok(Self { connection })
    }

    /// The signals of the objects that the owner of `name` has under `namespace`.
    pub(crate) fn signals(&self, name: &str, namespace: &str) -> Result<MessageIterator> {
        let failed = failed("connecting to the session bus");
        let rule = MatchRule::builder()
            .msg_type(zbus::message::Type::Signal)
            .sender(name)
            .map_err(&failed)?
            .path_namespace(namespace)
            .map_err(&failed)?
            .build();
        MessageIterator::for_match_rule(rule, &self.connection, None).map_err(&failed)
    }

    /// Calls a method without a result.
    pub(crate) fn tell(&self, on: On<'_>, method: &str, body: &impl Arguments) -> Result<()> {
        self.ask(on, method, body)
    }

    /// Calls a method and returns its result.
    pub(crate) fn ask<R>(&self, on: On<'_>, method: &str, body: &impl Arguments) -> Result<R>
    where
        R: for<'d> DynamicDeserialize<'d>,
    {
        dbus::ask(&self.connection, on, method, body).map_err(|e| {
            if matches!(e, zbus::Error::InputOutput(_)) {
                tracing::warn!("{}.{method}: {e}", on.2);
            }
            failed("calling Mutter")(e)
        })
    }

    /// Calls a method that creates an object, and returns its path.
    pub(crate) fn make(&self, on: On<'_>, method: &str, body: &impl Arguments) -> Result<String> {
        let path: OwnedObjectPath = self.ask(on, method, body)?;
        Ok(path.as_str().to_owned())
    }

    /// Calls a method that returns a socket.
    pub(crate) fn socket(
        &self,
        on: On<'_>,
        method: &str,
        body: &impl Arguments,
    ) -> Result<OwnedFd> {
        let fd: zvariant::OwnedFd = self.ask(on, method, body)?;
        Ok(fd.into())
    }

    /// The unique name of the connection that owns this name.
    pub(crate) fn owner(&self, name: &str) -> Result<String> {
        dbus::owner(&self.connection, name).map_err(failed("calling Mutter"))
    }

    /// Reads a property.
    pub(crate) fn property(&self, on: On<'_>, property: &str) -> Result<OwnedValue> {
        dbus::property(&self.connection, on, property).map_err(failed("calling Mutter"))
    }
}

/// Reads the body of a message.
pub(crate) fn read<R: DeserializeOwned + Type>(message: &Message) -> Result<R> {
    let body = message.body();
    body.deserialize()
        .map_err(failed("reading Mutter's answer"))
}

/// Whether a message is this signal of an object of this connection.
fn is_from(message: &Message, owner: &str, path: &str, signal: &str) -> bool {
    let header = message.header();
    header.sender().is_some_and(|sender| sender == owner)
        && header.path().is_some_and(|of| of == path)
        && header.member().is_some_and(|member| member == signal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_counts_only_if_its_objects_owner_sends_it() {
        let signal = |sender: &str| {
            let signal = Message::signal("/a", "org.a.B", "Response").unwrap();
            signal
                .sender(sender.to_owned())
                .unwrap()
                .build(&())
                .unwrap()
        };
        assert!(is_from(&signal(":1.7"), ":1.7", "/a", "Response"));
        assert!(
            !is_from(&signal(":1.8"), ":1.7", "/a", "Response"),
            "forged"
        );
        assert!(!is_from(&signal(":1.7"), ":1.7", "/a/b", "Response"));
        assert!(!is_from(&signal(":1.7"), ":1.7", "/a", "Closed"));
        let anonymous = Message::signal("/a", "org.a.B", "Response").unwrap();
        let anonymous = anonymous.build(&()).unwrap();
        assert!(!is_from(&anonymous, ":1.7", "/a", "Response"));
    }
}

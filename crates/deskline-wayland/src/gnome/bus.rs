//! The session bus, with a time limit on every wait.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::time::Duration;

use async_io::Timer;
use deskline_contract::{Error, Result};
use futures_lite::{StreamExt as _, future};
use serde::de::DeserializeOwned;
use zbus::blocking::{Connection, MessageIterator};
use zbus::zvariant::{self, DynamicDeserialize, OwnedObjectPath, OwnedValue, Type, Value};
use zbus::{MatchRule, Message, MessageStream};

pub(crate) use crate::dbus::On;
use crate::dbus::{self, Arguments};

/// How long Mutter may take to answer. With twelve busy processes on two cores, it took 0.5 s, and
/// once more than 2 s. A shell that hangs stops the whole desktop, so a shorter limit gains
/// nothing.
const PATIENCE: Duration = Duration::from_secs(10);

/// Options of a method by name.
pub(crate) type Options<'v> = HashMap<&'static str, Value<'v>>;

/// A connection to the session bus, for method calls.
#[derive(Debug, Clone)]
pub(crate) struct Calls {
    connection: Connection,
}

fn failed(what: &'static str) -> impl Fn(zbus::Error) -> Error {
    move |e| match e {
        zbus::Error::InputOutput(_) => Error::lost(what)(e),
        e => Error::system(what)(e),
    }
}

impl Calls {
    pub(crate) fn connect(address: &str) -> Result<Self> {
        let what = "connecting to the session bus";
        let connection = dbus::connect(address, PATIENCE).map_err(failed(what))?;
        Ok(Self { connection })
    }

    /// The signals of the object at `path` that belongs to the owner of `name`.
    pub(crate) fn signals(&self, name: &str, path: &str) -> Result<MessageStream> {
        let owner = self.owner(name)?;
        let rule = signals_of(&owner, path);
        let signals =
            rule.and_then(|rule| MessageIterator::for_match_rule(rule, &self.connection, None));
        let signals = signals.map_err(failed("connecting to the session bus"))?;
        Ok(signals.into_inner())
    }

    /// Calls `doing`, and waits until the object at `path` sends this signal. The object belongs to
    /// the owner of `name`.
    pub(crate) fn signal_after(
        &self,
        (name, path): (&str, &str),
        signal: &str,
        limit: Duration,
        doing: impl FnOnce() -> Result<()>,
    ) -> Result<Message> {
        let mut signals = self.signals(name, path)?;
        doing()?;
        let is_it = |message: &Message| {
            let header = message.header();
            header.member().is_some_and(|member| member == signal)
        };
        let sent = async {
            let mut sent = (&mut signals).filter_map(|message| message.ok().filter(is_it));
            sent.next().await
        };
        let late = async {
            Timer::after(limit).await;
            None
        };
        async_io::block_on(future::or(sent, late)).ok_or_else(|| {
            Error::system("waiting for Mutter")(format!("no signal {signal} in time"))
        })
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

    /// Calls a method that creates an object, and returns the object's path.
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

    /// The unique name of the connection that owns the bus name `name`.
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

/// Matches the signals that the connection `owner` sends from this object. Signals of other
/// connections do not count: every program of the session can send signals.
fn signals_of<'r>(owner: &'r str, path: &'r str) -> zbus::Result<MatchRule<'r>> {
    let of_type = MatchRule::builder().msg_type(zbus::message::Type::Signal);
    Ok(of_type.sender(owner)?.path(path)?.build())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_counts_only_if_its_objects_owner_sends_it() {
        let signal = || Message::signal("/a", "org.a.B", "Response").unwrap();
        let sent_by = |sender: &'static str| signal().sender(sender).unwrap().build(&()).unwrap();
        let matches = |message: &Message, path: &str| {
            let rule = signals_of(":1.7", path).unwrap();
            rule.matches(message).unwrap()
        };
        assert!(matches(&sent_by(":1.7"), "/a"));
        assert!(!matches(&sent_by(":1.8"), "/a"), "forged");
        assert!(!matches(&sent_by(":1.7"), "/a/b"));
        assert!(!matches(&signal().build(&()).unwrap(), "/a"));
    }
}

//! The session bus, with a time limit on every wait.

use std::collections::HashMap;
use std::ops::Deref;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use deskline_link::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use zbus::blocking::connection::Builder;
use zbus::blocking::{Connection, MessageIterator};
use zbus::zvariant::{self, DynamicType, OwnedObjectPath, OwnedValue, Type, Value};
use zbus::{MatchRule, Message};

/// How long Mutter may take for an answer: 0.5 s with twelve busy processes on two cores, and more than 2 s
/// was seen once. While the shell stands still, so does the whole desktop: there is nothing else to do.
const PATIENCE: Duration = Duration::from_secs(10);

/// Options of a method, by their names.
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
    /// Connects, and listens to Mutter's objects.
    pub(crate) fn connect(address: &str) -> Result<Self> {
        let (heard, signals) = channel();
        let bus = Self {
            calls: Calls::connect(address)?,
            heard,
            signals,
        };
        bus.listen("/org/gnome/Mutter")?;
        Ok(bus)
    }

    /// Listens to the objects in this namespace too.
    pub(crate) fn listen(&self, namespace: &str) -> Result<()> {
        let what = "connecting to the session bus";
        let rule = MatchRule::builder()
            .msg_type(zbus::message::Type::Signal)
            .path_namespace(namespace)
            .map_err(failed(what))?
            .build();
        let signals = MessageIterator::for_match_rule(rule, &self.connection, None);
        let signals = signals.map_err(failed(what))?;
        let heard = self.heard.clone();
        // Ends with the connection.
        std::thread::spawn(move || {
            for message in signals.flatten() {
                if heard.send(message).is_err() {
                    return;
                }
            }
        });
        Ok(())
    }

    /// Waits for a signal of an object. Others that come meanwhile are dropped.
    pub(crate) fn wait(&self, path: &str, signal: &str, deadline: Instant) -> Result<Message> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(message) = self.signals.recv_timeout(left) else {
                return Err(Error::system("waiting for Mutter")(format!(
                    "no signal {signal} in time"
                )));
            };
            let header = message.header();
            if header.path().is_some_and(|p| p.as_str() == path)
                && header.member().is_some_and(|m| m.as_str() == signal)
            {
                return Ok(message);
            }
        }
    }
}

impl Calls {
    pub(crate) fn connect(address: &str) -> Result<Self> {
        let what = "connecting to the session bus";
        let builder = Builder::address(address).map_err(failed(what))?;
        let connection = builder.method_timeout(PATIENCE).build();
        let connection = connection.map_err(failed(what))?;
        Ok(Self { connection })
    }

    fn call<B>(&self, on: On<'_>, method: &str, body: &B) -> Result<Message>
    where
        B: Serialize + DynamicType,
    {
        let (name, path, interface) = on;
        let reply = self
            .connection
            .call_method(Some(name), path, Some(interface), method, body);
        reply.map_err(|e| {
            if matches!(e, zbus::Error::InputOutput(_)) {
                tracing::warn!("{interface}.{method}: {e}");
            }
            failed("calling Mutter")(e)
        })
    }

    /// Calls a method that answers nothing.
    pub(crate) fn tell<B>(&self, on: On<'_>, method: &str, body: &B) -> Result<()>
    where
        B: Serialize + DynamicType,
    {
        self.call(on, method, body).map(drop)
    }

    /// Calls a method and reads its answer.
    pub(crate) fn ask<B, R>(&self, on: On<'_>, method: &str, body: &B) -> Result<R>
    where
        B: Serialize + DynamicType,
        R: DeserializeOwned + Type,
    {
        read(&self.call(on, method, body)?)
    }

    /// Calls a method that makes an object.
    pub(crate) fn make<B>(&self, on: On<'_>, method: &str, body: &B) -> Result<String>
    where
        B: Serialize + DynamicType,
    {
        let path: OwnedObjectPath = self.ask(on, method, body)?;
        Ok(path.as_str().to_owned())
    }

    /// Calls a method that hands out a socket.
    pub(crate) fn socket<B>(&self, on: On<'_>, method: &str, body: &B) -> Result<OwnedFd>
    where
        B: Serialize + DynamicType,
    {
        let fd: zvariant::OwnedFd = self.ask(on, method, body)?;
        Ok(fd.into())
    }

    /// Reads a property.
    pub(crate) fn property(&self, on: On<'_>, property: &str) -> Result<OwnedValue> {
        let (name, path, interface) = on;
        let properties = (name, path, "org.freedesktop.DBus.Properties");
        self.ask(properties, "Get", &(interface, property))
    }
}

/// A bus name, an object's path and an interface.
pub(crate) type On<'o> = (&'o str, &'o str, &'o str);

/// Reads what a message carries.
pub(crate) fn read<R: DeserializeOwned + Type>(message: &Message) -> Result<R> {
    let body = message.body();
    body.deserialize()
        .map_err(failed("reading Mutter's answer"))
}

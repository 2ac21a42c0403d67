//! A compositor in the test's process, on a thread of its own. It speaks the protocols of the
//! wlroots family, keeps a model of the desktop, and can fail at any event.

/// The handler for a client that binds a global. Its arguments are the state, the new object, the
/// global's data and the constructor of objects.
macro_rules! on_bind {
    (
        $interface:ty,
        $data:ty,
        |$state:pat_param, $new:pat_param, $its:pat_param, $init:pat_param| $body:block
    ) => {
        impl wayland_server::GlobalDispatch<$interface, $data> for crate::server::State {
            fn bind(
                $state: &mut Self,
                _: &wayland_server::DisplayHandle,
                _: &wayland_server::Client,
                $new: wayland_server::New<$interface>,
                $its: &$data,
                $init: &mut wayland_server::DataInit<'_, Self>,
            ) $body
        }
    };
}

/// A global without data of its own.
macro_rules! plain {
    ($interface:ty) => {
        on_bind!($interface, (), |_, new, (), init| {
            init.init(new, ());
        });
    };
}

/// The handlers for an object's requests and for its destruction. The arguments are the state, the
/// object, the request, the object's data and the constructor of new objects.
macro_rules! on_request {
    (
        $interface:ty,
        $data:ty,
        |$state:pat_param, $object:pat_param, $request:pat_param, $its:pat_param,
         $init:pat_param| $body:block
        $(, |$last:pat_param, $gone:pat_param, $left:pat_param| $end:block)?
    ) => {
        impl wayland_server::Dispatch<$interface, $data> for crate::server::State {
            fn request(
                $state: &mut Self,
                _: &wayland_server::Client,
                $object: &$interface,
                $request: <$interface as wayland_server::Resource>::Request,
                $its: &$data,
                _: &wayland_server::DisplayHandle,
                $init: &mut wayland_server::DataInit<'_, Self>,
            ) $body

            $(fn destroyed(
                $last: &mut Self,
                _: wayland_server::backend::ClientId,
                $gone: &$interface,
                $left: &$data,
            ) $end)?
        }
    };
}

/// An object whose requests are ignored.
macro_rules! inert {
    ($interface:ty) => {
        on_request!($interface, (), |_, _, _, _, _| {});
    };
}

pub mod clipboard;
pub mod desktop;
mod pictures;
mod screens;
mod seat;
mod windows;

use std::os::fd::AsFd as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, poll};
use tempfile::TempDir;
use wayland_server::backend::{ClientData, ClientId, DisconnectReason};
use wayland_server::protocol::wl_output::WlOutput;
use wayland_server::protocol::wl_shm::Format;
use wayland_server::{Display, DisplayHandle};

use desktop::Desktop;

/// The compositor's abilities and behaviour.
#[derive(Debug, Clone)]
pub struct Options {
    /// The interfaces that the compositor does not offer.
    pub without: Vec<&'static str>,
    pub format: Format,
    pub upside_down: bool,
    pub refuses_pictures: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            without: Vec::new(),
            format: Format::Xrgb8888,
            upside_down: false,
            refuses_pictures: false,
        }
    }
}

/// An action, such as a failure, at an event of a device.
pub type Hook = Box<dyn FnOnce(&mut State) + Send>;

/// The compositor's state.
pub struct State {
    pub desktop: Desktop,
    pub clipboard: clipboard::Clipboard,
    options: Options,
    display: DisplayHandle,
    clients: Vec<ClientId>,
    outputs: Vec<(WlOutput, usize)>,
    listed: windows::Listed,
    pictures: u32,
    /// An action, and after how many further device events it is due.
    hook: Option<(usize, Hook)>,
    /// Whether the compositor has stopped answering.
    hung: bool,
}

impl State {
    /// Counts an event of a device.
    fn input(&mut self) {
        if let Some((left, _)) = &mut self.hook {
            *left = left.saturating_sub(1);
        }
        if let Some((_, hook)) = self.hook.take_if(|(left, _)| *left == 0) {
            hook(self);
        }
    }

    /// Ends all connections.
    pub fn disconnect(&mut self) {
        for client in self.clients.drain(..) {
            let reason = DisconnectReason::ConnectionClosed;
            self.display.backend_handle().kill_client(client, reason);
        }
    }

    /// Stops answering.
    pub fn hang(&mut self) {
        self.hung = true;
    }

    /// How many pictures were taken.
    pub fn pictures(&self) -> u32 {
        self.pictures
    }
}

type Order = Box<dyn FnOnce(&mut State) + Send>;

/// A running compositor. Dropping this ends it.
pub struct Server {
    folder: TempDir,
    orders: Mutex<Sender<Order>>,
    /// Wakes the thread when written to; ends it when closed.
    waker: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub fn start(desktop: Desktop, options: Options) -> Arc<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let listener = UnixListener::bind(folder.path().join("wayland")).expect("a socket");
        let (waker, woken) = UnixStream::pair().expect("a pair of sockets");
        let (orders, inbox) = mpsc::channel();
        let thread = std::thread::spawn(move || run(desktop, options, &listener, &woken, &inbox));
        Arc::new(Self {
            folder,
            orders: Mutex::new(orders),
            waker: Some(waker),
            thread: Some(thread),
        })
    }

    pub fn socket(&self) -> PathBuf {
        Path::new(self.folder.path()).join("wayland")
    }

    /// Reads or changes the state between two requests of clients.
    pub fn with<T: Send + 'static>(&self, f: impl FnOnce(&mut State) -> T + Send + 'static) -> T {
        let (reply, answer) = mpsc::channel();
        let order: Order = Box::new(move |state| {
            let _ = reply.send(f(state));
        });
        let orders = self.orders.lock().expect("the orders");
        orders.send(order).expect("the compositor runs");
        wake(self.waker.as_ref().expect("the compositor runs"));
        answer.recv().expect("the compositor runs")
    }

    /// Sets an action for the `nth` device event from now on.
    pub fn at_event(&self, nth: usize, hook: impl FnOnce(&mut State) + Send + 'static) {
        self.with(move |state| state.hook = Some((nth, Box::new(hook))));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.waker.take();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
            && !std::thread::panicking()
        {
            panic!("the compositor's thread has panicked");
        }
    }
}

fn wake(mut waker: &UnixStream) {
    use std::io::Write as _;
    waker.write_all(&[1]).expect("the compositor runs");
}

struct Peer;

impl ClientData for Peer {
    fn initialized(&self, _: ClientId) {}
    fn disconnected(&self, _: ClientId, _: DisconnectReason) {}
}

fn run(
    desktop: Desktop,
    options: Options,
    listener: &UnixListener,
    mut woken: &UnixStream,
    inbox: &Receiver<Order>,
) {
    use std::io::Read as _;
    let mut display: Display<State> = Display::new().expect("a display");
    let mut state = State {
        desktop,
        clipboard: clipboard::Clipboard::default(),
        options,
        display: display.handle(),
        clients: Vec::new(),
        outputs: Vec::new(),
        listed: windows::Listed::default(),
        pictures: 0,
        hook: None,
        hung: false,
    };
    state.offer_globals();
    loop {
        let backend = display.backend().poll_fd();
        let mut fds = vec![PollFd::new(&woken, PollFlags::IN)];
        if !state.hung {
            fds.push(PollFd::new(listener, PollFlags::IN));
            fds.push(PollFd::from_borrowed_fd(backend.as_fd(), PollFlags::IN));
        }
        poll(&mut fds, None).expect("poll");
        let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        drop(fds);
        if ready[0] && woken.read(&mut [0]).expect("the test") == 0 {
            return;
        }
        for order in inbox.try_iter() {
            order(&mut state);
        }
        if ready.get(1) == Some(&true) {
            let (stream, _) = listener.accept().expect("a client");
            let client = state.display.insert_client(stream, Arc::new(Peer));
            state.clients.push(client.expect("a client").id());
        }
        if ready.get(2) == Some(&true) {
            display.dispatch_clients(&mut state).expect("the clients");
        }
        state.announce_windows();
        // Ignore clients that have disconnected.
        let _ = display.flush_clients();
    }
}

impl State {
    fn offer_globals(&mut self) {
        self.offer_screens();
        self.offer_seat();
        self.offer_windows();
        self.offer_pictures();
        self.offer_clipboard();
    }

    /// Offers a global, unless the options exclude it.
    fn offer<I>(&mut self, version: u32)
    where
        I: wayland_server::Resource + 'static,
        Self: wayland_server::GlobalDispatch<I, ()>,
    {
        if !self.options.without.contains(&I::interface().name) {
            self.display.create_global::<Self, I, ()>(version, ());
        }
    }
}

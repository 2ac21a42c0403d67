//! The server: HTTP/1.1 on loopback, a task for each connection.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use deskline_journal::Journal;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, StatusCode, header};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::answer::{Answer, elsewhere, text};
use crate::gate::{Asked, Gate, Refusal};
use crate::pages::Pages;
use crate::{ViewError, peer};

/// The pause after a connection that could not be accepted.
const PAUSE: Duration = Duration::from_millis(200);
/// At most this many connections. A browser opens six for a page.
const CONNECTIONS: usize = 64;
/// How long a client may take to send a request's head.
const PATIENCE: Duration = Duration::from_secs(10);
/// The largest request head in bytes.
const HEAD: usize = 16 << 10;

/// Shows a journal on loopback. Reads only.
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
}

struct Shared {
    pages: Pages,
    gate: Gate,
}

impl Server {
    /// Listens on this port of 127.0.0.1; 0 means any free port. Call it in a tokio runtime.
    pub async fn bind(journal: &Journal, port: u16) -> Result<Self, ViewError> {
        let listen = |source| ViewError::Listen { port, source };
        let address = (Ipv4Addr::LOCALHOST, port);
        let listener = TcpListener::bind(address).await.map_err(listen)?;
        let bound = listener.local_addr().map_err(listen)?.port();
        let gate = Gate::new(bound).map_err(ViewError::Token)?;
        let pages = Pages::new(journal);
        let shared = Arc::new(Shared { pages, gate });
        Ok(Self { listener, shared })
    }

    /// The address of the page, with the token.
    pub fn url(&self) -> String {
        self.shared.gate.url()
    }

    /// An address for a browser's command line, which other users can read. It works once, within a
    /// minute, and for this user only.
    pub fn url_for_one(&self) -> Result<String, ViewError> {
        self.shared.gate.url_for_one().map_err(ViewError::Token)
    }

    /// Serves until the returned future is dropped.
    pub async fn run(self) {
        let shared = self.shared;
        let converse = |stream| converse(stream, Arc::clone(&shared));
        accept(self.listener, CONNECTIONS, converse).await;
    }
}

/// Accepts connections, at most this many at a time, and serves each in a task. It never ends.
pub async fn accept<C: Future<Output = ()> + Send + 'static>(
    listener: TcpListener,
    most: usize,
    converse: impl Fn(TcpStream) -> C,
) {
    let places = Arc::new(Semaphore::new(most));
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                let conversation = converse(stream);
                tokio::spawn(async move {
                    conversation.await;
                    drop(place);
                });
            }
            // The client has left, or there are no descriptors for now.
            Err(error) => {
                tracing::warn!("cannot accept a connection: {error}");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

async fn converse(stream: TcpStream, shared: Arc<Shared>) {
    let ends = stream.peer_addr().ok().zip(stream.local_addr().ok());
    let service = service_fn(|request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(respond(&shared, ends, &request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(HEAD)
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "a connection ended");
    }
}

/// The client's address and our own.
type Ends = Option<(SocketAddr, SocketAddr)>;

async fn respond<B>(shared: &Shared, ends: Ends, request: &Request<B>) -> Answer {
    let uri = request.uri();
    let asked = shared.gate.ask(request.method(), uri, request.headers());
    let refusal = match asked {
        Ok(Asked::Page(path)) => {
            return shared.pages.answer(path, uri.query()).await;
        }
        Ok(Asked::Code(code)) => match enter(shared, ends, code) {
            Some(answer) => return answer,
            None => Refusal::Token,
        },
        Err(refusal) => refusal,
    };
    let mut answer = text(refusal.status(), refusal.text());
    // The body of a refused request is not read.
    let close = header::HeaderValue::from_static("close");
    answer.headers_mut().insert(header::CONNECTION, close);
    answer
}

/// Sends the browser that was started with this code to the page.
fn enter(shared: &Shared, ends: Ends, code: &str) -> Option<Answer> {
    let ours = ends.and_then(|(peer, own)| peer::is_of_this_user(peer, own));
    if ours == Some(false) {
        return None;
    }
    let page = shared.gate.let_in(code)?;
    Some(elsewhere(StatusCode::SEE_OTHER, &page))
}

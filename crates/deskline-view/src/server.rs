//! The server: HTTP/1.1 on loopback, a task for each connection.

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use deskline_journal::Journal;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, header};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::answer::{Answer, text};
use crate::gate::Gate;
use crate::run::Run;
use crate::{ViewError, routes};

/// How often the log is looked at while a page is open.
const LOOK: Duration = Duration::from_millis(200);
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
    run: Arc<Run>,
    gate: Gate,
}

impl Server {
    /// Listens on this port of 127.0.0.1; 0 is any free one. Call it in a tokio runtime.
    pub async fn bind(journal: &Journal, port: u16) -> Result<Self, ViewError> {
        let listen = |source| ViewError::Listen { port, source };
        let address = (Ipv4Addr::LOCALHOST, port);
        let listener = TcpListener::bind(address).await.map_err(listen)?;
        let bound = listener.local_addr().map_err(listen)?.port();
        let gate = Gate::new(bound).map_err(ViewError::Token)?;
        let run = Arc::new(Run::new(journal));
        let shared = Arc::new(Shared { run, gate });
        Ok(Self { listener, shared })
    }

    /// The address of the page, with the token.
    pub fn url(&self) -> String {
        self.shared.gate.url()
    }

    /// Serves until it is dropped.
    pub async fn run(self) {
        tokio::spawn(look(Arc::clone(&self.shared.run)));
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        loop {
            let Ok(place) = Arc::clone(&places).acquire_owned().await else {
                return;
            };
            match self.listener.accept().await {
                Ok((stream, _)) => {
                    let shared = Arc::clone(&self.shared);
                    tokio::spawn(async move {
                        converse(stream, shared).await;
                        drop(place);
                    });
                }
                // The client has left, or there are no descriptors for now.
                Err(error) => {
                    tracing::debug!(%error, "no connection");
                    tokio::time::sleep(LOOK).await;
                }
            }
        }
    }
}

/// Reads the log while a page is open.
async fn look(run: Arc<Run>) {
    loop {
        tokio::time::sleep(LOOK).await;
        if run.is_watched() {
            let run = Arc::clone(&run);
            let update = tokio::task::spawn_blocking(move || run.update());
            if let Ok(Err(error)) = update.await {
                tracing::debug!(%error, "the log was not read");
            }
        }
    }
}

async fn converse(stream: TcpStream, shared: Arc<Shared>) {
    let service = service_fn(|request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(respond(&shared, &request).await) }
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

async fn respond<B>(shared: &Shared, request: &Request<B>) -> Answer {
    let uri = request.uri();
    match shared.gate.path(request.method(), uri, request.headers()) {
        Ok(path) => routes::route(&shared.run, path, uri.query().unwrap_or_default()).await,
        Err(refusal) => {
            let mut answer = text(refusal.status(), refusal.text());
            // The body of a refused request is not read.
            let close = header::HeaderValue::from_static("close");
            answer.headers_mut().insert(header::CONNECTION, close);
            answer
        }
    }
}

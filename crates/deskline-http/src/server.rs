//! The server: HTTP/1.1, a task for each connection.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::pending;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use deskline_view::{Answer, Pages, accept};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Uri};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use crate::error::HttpError;
use crate::fleet::Fleet;
use crate::gate::{self, Asked, Refusal};
use crate::token::Token;

/// At most this many connections.
const CONNECTIONS: usize = 1024;

/// The maximum number of open connections that have not shown a token yet: in all, and from one
/// address.
const STRANGERS: [usize; 2] = [256, 64];

/// How long a client may take to send a request's head, and to show a token.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest head of a request, in bytes.
const HEAD: usize = 16 * 1024;

/// The format of the metrics.
const PROMETHEUS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The address to listen on, and the accepted clients.
pub struct Listen {
    pub address: SocketAddr,
    /// The names in `Host` that mean this server, besides loopback.
    pub hosts: Vec<String>,
    pub token: Token,
    /// Whether `/metrics` needs no token.
    pub open_metrics: bool,
    pub viewer: Option<Viewer>,
    /// The address at which only monitoring is answered, so that clients cannot use up the
    /// connections of monitoring.
    pub probes: Option<SocketAddr>,
}

/// The pages of the journals, and the token that gives access to them.
pub struct Viewer {
    pub pages: Pages,
    pub token: Token,
}

/// MCP over HTTP.
pub struct HttpServer {
    listener: TcpListener,
    probes: Option<TcpListener>,
    /// The addresses to listen on, with the actual ports.
    listen: Listen,
}

/// The connections that have not shown a token, by their address.
#[derive(Default)]
struct Strangers(Mutex<HashMap<IpAddr, usize>>);

/// The place of one connection among the [`Strangers`], until this is dropped.
struct Stranger<'s>(&'s Strangers, IpAddr);

impl Strangers {
    fn admit(&self, address: IpAddr) -> Option<Stranger<'_>> {
        // One client may have 2^64 addresses of IPv6: these count as one.
        let address = match address.to_canonical() {
            IpAddr::V6(v6) => Ipv6Addr::from(u128::from(v6) >> 64 << 64).into(),
            v4 @ IpAddr::V4(_) => v4,
        };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.values().sum::<usize>() >= STRANGERS[0] {
            return None;
        }
        let from_there = all.entry(address).or_default();
        if *from_there >= STRANGERS[1] {
            return None;
        }
        *from_there += 1;
        Some(Stranger(self, address))
    }
}

impl Drop for Stranger<'_> {
    fn drop(&mut self) {
        let mut all = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(from_there) = all.get_mut(&self.1) {
            *from_there -= 1;
        }
        all.retain(|_, from_there| *from_there > 0);
    }
}

/// The data that a request handler needs.
struct Shared<H: ServerHandler + Send + 'static> {
    /// The options. Their `hosts` has all names in `Host` that mean this server.
    listen: Listen,
    service: Service<H>,
    fleet: Option<Arc<Fleet>>,
}

/// rmcp's service: its handler, and the sessions of its clients.
type Service<H> = StreamableHttpService<H, LocalSessionManager>;

impl HttpServer {
    /// Listens. Port 0 means any free port. Call it in a tokio runtime.
    pub async fn bind(mut listen: Listen) -> Result<Self, HttpError> {
        let listener = open(&mut listen.address).await?;
        let probes = match &mut listen.probes {
            Some(address) => Some(open(address).await?),
            None => None,
        };
        Ok(Self {
            listener,
            probes,
            listen,
        })
    }

    /// The address for monitoring, if monitoring has its own address.
    pub fn probes(&self) -> Option<SocketAddr> {
        self.listen.probes
    }

    /// The address for clients.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.listen.address, gate::PATH)
    }

    /// The address for browsers, if the server has a viewer.
    pub fn view_url(&self) -> Option<String> {
        let viewer = self.listen.viewer.as_ref();
        viewer.map(|_| format!("http://{}{}/", self.listen.address, gate::VIEW))
    }

    /// Serves until `stop` completes. If there is a fleet, serves the fleet's desktops. Each
    /// session has a handler from `new_handler`, which is dropped when the session ends. A session
    /// ends at the latest after `idle` without a request.
    pub async fn run<H: ServerHandler + Send + 'static>(
        mut self,
        new_handler: impl Fn() -> H + Send + Sync + 'static,
        fleet: Option<Arc<Fleet>>,
        idle: Duration,
        stop: impl Future<Output = ()>,
    ) {
        // Browsers send the origin of the page. Only this server's own pages are accepted.
        let port = self.listen.address.port();
        let origins = ["localhost", "127.0.0.1"].map(|host| format!("http://{host}:{port}"));
        let mut config = StreamableHttpServerConfig::default()
            .with_allowed_origins(origins)
            .enforce_origin_validation();
        config.allowed_hosts.append(&mut self.listen.hosts);
        self.listen.hosts.clone_from(&config.allowed_hosts);
        let ended = config.cancellation_token.clone();
        let mut sessions = LocalSessionManager::default();
        sessions.session_config = SessionConfig::default();
        sessions.session_config.keep_alive = Some(idle);
        let new_handler = move || Ok(new_handler());
        let service = Service::new(new_handler, Arc::new(sessions), config);
        let shared = Arc::new(Shared {
            listen: self.listen,
            service,
            fleet,
        });
        let clients = Arc::<Strangers>::default();
        let of_client = |stream| converse(stream, Arc::clone(&clients), Arc::clone(&shared), false);
        let monitors = Arc::<Strangers>::default();
        let of_monitor =
            |stream| converse(stream, Arc::clone(&monitors), Arc::clone(&shared), true);
        let monitoring = async {
            match self.probes {
                Some(probes) => accept(probes, STRANGERS[0], of_monitor).await,
                None => pending().await,
            }
        };
        tokio::select! {
            () = accept(self.listener, CONNECTIONS, of_client) => {}
            () = monitoring => {}
            () = stop => {}
        }
        ended.cancel();
    }
}

/// Listens at `address`, and sets its port to the actual one.
async fn open(address: &mut SocketAddr) -> Result<TcpListener, HttpError> {
    let wanted = *address;
    let failed = |source| HttpError::Listen {
        address: wanted,
        source,
    };
    let listener = TcpListener::bind(wanted).await.map_err(failed)?;
    *address = listener.local_addr().map_err(failed)?;
    Ok(listener)
}

async fn converse<H: ServerHandler + Send + 'static>(
    stream: TcpStream,
    strangers: Arc<Strangers>,
    shared: Arc<Shared<H>>,
    probes_only: bool,
) {
    let address = stream.peer_addr().map(|address| address.ip());
    let Some(stranger) = address.ok().and_then(|ip| strangers.admit(ip)) else {
        return;
    };
    let known = CancellationToken::new();
    let answer = |request: Request<Incoming>| {
        let (shared, known) = (Arc::clone(&shared), known.clone());
        async move {
            if probes_only && ![gate::HEALTH, gate::READY].contains(&request.uri().path()) {
                let only = "Here only /health and /ready are answered.";
                return Ok(text(StatusCode::NOT_FOUND, only));
            }
            Ok::<_, Infallible>(answer(request, &shared, &known).await)
        }
    };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(HEAD)
        .serve_connection(TokioIo::new(stream), service_fn(answer));
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = &mut connection => ended,
        () = tokio::time::sleep(PATIENCE) => return,
        () = known.cancelled() => {
            drop(stranger);
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!("a connection ended: {error}");
    }
}

async fn answer<H: ServerHandler + Send + 'static>(
    mut request: Request<Incoming>,
    shared: &Shared<H>,
    known: &CancellationToken,
) -> Answer {
    const NO_FLEET: &str = "Only a server with --desktops has profiles and metrics.";
    let Shared { listen, fleet, .. } = shared;
    let head = (request.method(), request.uri(), request.headers());
    if let (Some(viewer), Some(path)) = (&listen.viewer, gate::below_view(head.1)) {
        let asked = gate::ask_view(&viewer.token, &listen.hosts, head.0, head.1, head.2);
        if asked.is_ok() {
            known.cancel();
        }
        return view(viewer, asked, path, head.1).await;
    }
    let asked = match gate::ask(&listen.token, listen.open_metrics, head.0, head.1, head.2) {
        Ok(asked) => asked,
        Err((status, why)) => return text(status, why),
    };
    match (asked, fleet) {
        (Asked::Protocol, None) if request.uri().query().is_some() => {
            text(StatusCode::BAD_REQUEST, NO_FLEET)
        }
        (Asked::Protocol, _) => {
            known.cancel();
            // Handlers get the request, but must not get the token in it.
            request.headers_mut().remove(AUTHORIZATION);
            shared.service.handle(request).await
        }
        (Asked::Ready, Some(fleet)) if !fleet.is_ready() => {
            text(StatusCode::SERVICE_UNAVAILABLE, "no desktop is free")
        }
        (Asked::Health | Asked::Ready, _) => text(StatusCode::OK, "ok"),
        (Asked::Metrics, None) => text(StatusCode::NOT_FOUND, NO_FLEET),
        (Asked::Metrics, Some(fleet)) => match fleet.metrics().await {
            Ok(numbers) => {
                let mut answer = text(StatusCode::OK, numbers);
                answer
                    .headers_mut()
                    .insert(CONTENT_TYPE, HeaderValue::from_static(PROMETHEUS));
                answer
            }
            Err(_) => text(StatusCode::INTERNAL_SERVER_ERROR, "no numbers"),
        },
    }
}

/// A page of the viewer, or the answer that makes the browser ask for its password.
async fn view(viewer: &Viewer, asked: Result<(), Refusal>, path: &str, uri: &Uri) -> Answer {
    if let Err((status, why)) = asked {
        let mut answer = text(status, why);
        if status == StatusCode::UNAUTHORIZED {
            let question = HeaderValue::from_static(r#"Basic realm="Deskline", charset="UTF-8""#);
            answer.headers_mut().insert(WWW_AUTHENTICATE, question);
        }
        return answer;
    }
    match path.strip_prefix('/') {
        Some(path) => viewer.pages.answer(path, uri.query()).await,
        None => deskline_view::to_folder(gate::VIEW.trim_start_matches('/')),
    }
}

fn text(status: StatusCode, text: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(text.into()).boxed());
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    answer
}

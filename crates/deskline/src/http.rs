//! `deskline serve --http`: MCP over HTTP, for the desktop of this session or with a private
//! desktop for each client.

use std::env;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::process::ExitCode;
use std::sync::Arc;

#[cfg(target_os = "linux")]
use deskline_http::{Fleet, FleetOptions, HttpError, Limits, Relay, Seal};
use deskline_http::{HttpServer, Listen, TOKEN, Token, VIEW_TOKEN, Viewer};
use deskline_mcp::Server;
use deskline_view::Pages;

#[cfg(target_os = "linux")]
use crate::cli::Net;
use crate::cli::{Serve, Settings};
#[cfg(target_os = "linux")]
use crate::install::client::in_path;
use crate::output::{Done, Fallible, note};
use crate::run::{RESTORE, dispatcher, in_runtime, stopped};
use crate::state;

pub(crate) fn serve(settings: &Settings, serve: &Serve) -> Done {
    let Some(address) = serve.http else {
        return crate::run::serve(settings);
    };
    let (token, place) = token(TOKEN, "token")?;
    #[cfg(target_os = "linux")]
    let desktops = serve.desktops;
    #[cfg(not(target_os = "linux"))]
    let desktops: Option<u16> = None;
    let view = serve.view.then(|| viewer(settings, desktops.is_some()));
    let view = view.transpose()?;
    let (viewer, view_place) = view.unzip();
    let listen = Listen {
        address,
        hosts: serve.host.clone(),
        token,
        open_metrics: serve.metrics_open,
        viewer,
        probes: serve.probes,
    };
    in_runtime(async {
        let stop = stopped()?;
        let server = HttpServer::bind(listen).await?;
        let url = server.url();
        note(&format!("serving MCP at {url}; the token is in {place}"));
        if let (Some(url), Some(place)) = (server.view_url(), view_place) {
            note(&format!(
                "its logs are shown at {url}; the password is in {place}"
            ));
        }
        if let Some(address) = server.probes() {
            note(&format!("/health and /ready are also at http://{address}"));
        }
        warn_of(address);
        #[cfg(target_os = "linux")]
        if let Some(most) = desktops {
            let fleet = Fleet::start(fleet(settings, serve, most)?).await?;
            note(&format!("{most} desktops at most, each for one client"));
            if serve.unsealed {
                note("they are not sealed off: clients can reach each other's apps");
            }
            let relayed = Arc::clone(&fleet);
            let relay = move || Relay::new(Arc::clone(&relayed));
            server.run(relay, Some(fleet), serve.idle, stop).await;
            return Ok(ExitCode::SUCCESS);
        }
        let (dispatcher, open) = dispatcher(settings)?;
        let dispatcher = Arc::new(dispatcher);
        let shared = Arc::clone(&dispatcher);
        let remote = move || Server::remote(Arc::clone(&shared));
        let stop = open.until(stop);
        server.run(remote, None, serve.idle, stop).await;
        dispatcher.stop(RESTORE).await;
        Ok(open.exit_code())
    })
}

/// The token in this variable or file, and a text about where the person finds it.
fn token(variable: &'static str, file: &str) -> Fallible<(Token, String)> {
    if let Ok(text) = env::var(variable) {
        return Ok((Token::new(&text)?, variable.to_owned()));
    }
    let path = state::folder()
        .ok_or_else(|| format!("there is no home directory for the token: pass it in {variable}"))?
        .join(file);
    Ok((
        Token::from_file(&path, variable)?,
        path.display().to_string(),
    ))
}

/// The viewer of all journals, and a text about where the person finds its password.
fn viewer(settings: &Settings, has_many: bool) -> Fallible<(Viewer, String)> {
    let journal = settings.journal()?;
    let pages = if has_many {
        Pages::in_folder(journals(journal.path()))
    } else {
        Pages::new(&journal)
    };
    let (token, place) = token(VIEW_TOKEN, "view-token")?;
    Ok((Viewer { pages, token }, place))
}

/// The folder of the journals of clients' desktops.
fn journals(journal: &Path) -> PathBuf {
    journal.join("desktops")
}

fn warn_of(address: SocketAddr) {
    if !address.ip().is_loopback() {
        note(&format!(
            "{address} is not loopback: put TLS in front of it, or the token can be read on its way"
        ));
    }
}

/// The options of a fleet. Each desktop is this program on standard input and output, with the
/// options of this server.
#[cfg(target_os = "linux")]
fn fleet(settings: &Settings, serve: &Serve, most: u16) -> Fallible<FleetOptions> {
    if settings.home.is_some() {
        return Err(
            "--home is for one desktop. Clients name the home that they want kept: \
            /mcp?profile=NAME"
                .into(),
        );
    }
    if settings.ask {
        return Err("--ask is for a desktop at which you sit, not for --desktops".into());
    }
    let journal = settings.journal()?;
    let journals = journals(journal.path());
    let desktop = Settings {
        dir: None,
        desktop: Some(settings.desktop.unwrap_or_default()),
        attended: false,
        ..settings.clone()
    };
    Ok(FleetOptions {
        program: env::current_exe()?,
        arguments: desktop.arguments(),
        journals,
        keep: settings.keep,
        profiles: journal.path().join("profiles"),
        seal: seal(serve, journal.path())?,
        limits: limits(serve)?,
        most: most.into(),
        warm: serve.warm.into(),
        idle: serve.idle,
    })
}

/// The resources that each desktop may use.
#[cfg(target_os = "linux")]
fn limits(serve: &Serve) -> Result<Option<Limits>, HttpError> {
    let limits = Limits::find(serve.memory, serve.processes)?;
    if limits.as_ref().is_some_and(|limits| !limits.by_groups()) {
        note("control groups cannot be written: --memory limits each process, not each desktop");
    }
    Ok(limits)
}

/// How desktops are sealed off. Fails without bubblewrap, unless the person has chosen
/// `--unsealed`.
#[cfg(target_os = "linux")]
fn seal(serve: &Serve, journal: &Path) -> Fallible<Option<Seal>> {
    if serve.unsealed {
        return Ok(None);
    }
    let bwrap = in_path("bwrap").ok_or(
        "desktops are sealed off by bubblewrap: install the package bubblewrap, or pass \
        --unsealed if all clients may reach each other's apps and files",
    )?;
    if serve.net == Net::Shared && !deskline_http::closes_abstract_sockets() {
        note(
            "with --net shared, desktops reach abstract sockets of this machine, such as X servers': \
            Linux 6.12 with Landlock closes them",
        );
    }
    Ok(Some(Seal {
        bwrap,
        net: match serve.net {
            Net::None => deskline_http::Net::None,
            Net::Internet if rustix::process::geteuid().is_root() => {
                Err("--net internet is not for root: start the server as another user")?
            }
            Net::Internet => {
                in_path("pasta").ok_or("--net internet needs pasta: install the package passt")?;
                deskline_http::Net::Internet
            }
            Net::Shared => deskline_http::Net::Shared,
        },
        hidden: state::folder()
            .into_iter()
            .chain([journal.to_owned()])
            .collect(),
    }))
}

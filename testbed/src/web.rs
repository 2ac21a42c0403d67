//! A web page that reports what happens to it, and the server that it reports to.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::until;

/// A script in every page: `log(words…)` reports one line. Lines keep their order.
const REPORT: &str = r"
const lines = [];
let busy = false;
async function send() {
  if (busy) return;
  busy = true;
  while (lines.length) {
    await fetch('/log', {method: 'POST', body: lines.shift()});
  }
  busy = false;
}
function log(...words) { lines.push(words.join(' ')); send(); }
addEventListener('load', () => requestAnimationFrame(() => log('ready')));
";

/// A page on a local HTTP server, and its log.
#[derive(Debug)]
pub struct Page {
    port: u16,
    title: String,
    log: Arc<Mutex<Vec<String>>>,
}

impl Page {
    /// Serves this HTML body. Its scripts report what happens with `log(words…)`.
    pub fn serve(body: &str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let title = format!("Test page {port}");
        let html = format!(
            "<!doctype html><meta charset=utf-8><title>{title}</title>\
             <script>{REPORT}</script><body>{body}</body>"
        );
        let log = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::downgrade(&log);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // The page was dropped: end its server.
                let Some(log) = kept.upgrade() else { return };
                let html = html.clone();
                thread::spawn(move || answer(&stream, &html, &log));
            }
        });
        Self { port, title, log }
    }

    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    pub fn title(&self) -> &str {
        &self.title
    }

    /// Its log so far, without keys and scrolling.
    pub fn log(&self) -> Vec<String> {
        let noise = ["key ", "pad ", "scrolled ", "ready"];
        let mut log = self.full_log();
        log.retain(|line| !noise.iter().any(|n| line.starts_with(n)));
        log
    }

    /// Its log so far.
    pub fn full_log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    /// Waits until it has logged this line.
    pub fn wait_for(&self, line: &str) {
        until(&format!("\"{line}\" in the page's log"), || {
            self.full_log().iter().any(|l| l == line)
        });
    }

    pub fn clear_log(&self) {
        self.log.lock().unwrap().clear();
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // Wake the server, which then sees that the log is gone.
        self.log = Arc::default();
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

fn answer(stream: &TcpStream, html: &str, log: &Mutex<Vec<String>>) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(10)));
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    let mut length = 0;
    let _ = reader.read_line(&mut first);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) <= 2 {
            break;
        }
        let lower = line.to_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let content = if first.starts_with("POST /log ") {
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_ok() {
            let line = String::from_utf8_lossy(&body).replace('\n', "\\n");
            log.lock().unwrap().push(line);
        }
        ""
    } else if first.starts_with("GET / ") {
        html
    } else {
        ""
    };
    let mut stream = stream;
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
        Connection: close\r\n\r\n",
        content.len()
    );
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(content.as_bytes());
    let _ = stream.shutdown(Shutdown::Write);
}

//! Limits of a desktop's memory and processes.

use std::process::Command;

use deskline_testbed::until;
use serde_json::json;

use crate::client::Client;
use crate::server::Server;

/// Starts up to 300 processes, ends them, and prints how many could be started.
const FORKS: &str = r#"perl -e "while (@k < 300) { my \$p = fork; last unless defined \$p; \
    if (!\$p) { sleep 60; exit } push @k, \$p } kill 9, @k; 1 while wait > 0; print @k + 0, q( forks)""#;

/// How a server with limits is started on this machine, which may not let it create control groups.
fn limited(options: &[&str]) -> Server {
    let memory = ["--desktops", "2", "--memory", "400MB"];
    let server = Server::start(&[&memory, options].concat());
    until("its desktops, or its refusal", || {
        let log = server.log.lock().unwrap();
        let is_known =
            |line: &String| line.contains("desktops at most") || line.contains("--processes");
        log.iter().any(is_known).then_some(())
    });
    server
}

#[test]
fn a_desktop_at_its_limits_is_held_back_and_others_go_on() {
    let mut server = limited(&["--processes", "200"]);
    let by_groups = server.child.try_wait().unwrap().is_none();
    if !by_groups {
        server = limited(&[]);
    }
    let mut ann = Client::connect(&server.url);
    let mut bob = Client::connect(&server.url);
    let seen = ann.run("python3 -c \"x = bytes([1]) * (1 << 30); print(len(x))\"; echo status $?");
    assert!(!seen.contains("status 0"), "{seen}");
    assert_eq!(seen.contains("status 137"), by_groups, "{seen}");
    if by_groups {
        let seen = ann.run(FORKS);
        let forks = seen
            .split(" forks")
            .next()
            .and_then(|text| text.rsplit('"').next());
        let forks: u32 = forks.and_then(|n| n.parse().ok()).expect(&seen);
        assert!((50..200).contains(&forks), "{forks}");
    }
    bob.run("echo");
    ann.call("list_applications", &json!({}));
    let pid = server.child.id();
    let ended = Command::new("kill").arg(pid.to_string()).status();
    assert!(ended.unwrap().success() && server.child.wait().unwrap().success());
    let name = format!("deskline-{pid}-[0-9]*");
    let left = Command::new("find")
        .args(["/sys/fs/cgroup", "-name", &name])
        .output();
    assert_eq!(String::from_utf8_lossy(&left.unwrap().stdout), "");
}

use super::*;

fn policy(allow: &[&str], deny: &[&str]) -> Policy {
    Policy {
        allow: allow.iter().map(|s| (*s).to_owned()).collect(),
        deny: deny.iter().map(|s| (*s).to_owned()).collect(),
        ..Policy::default()
    }
}

fn app(names: &[&str], claims: &[&str]) -> Identity {
    Identity {
        names: names.iter().map(|s| (*s).to_owned()).collect(),
        claims: claims.iter().map(|s| (*s).to_owned()).collect(),
        ..Identity::default()
    }
}

#[test]
fn deny_overrides_allow_and_a_part_of_a_name_allows_no_app() {
    let bounds = policy(&["SecretPad", "MousePad", "/opt/ledger/"], &["secret"]);
    let permits = |name| bounds.permits(&app(&[name], &[]));
    assert!(permits("mousepad") && permits("/opt/ledger/main.py"));
    for name in [
        "SecretPad",
        "kcalc",
        "pad",
        "mousepad-x",
        "/opt/ledger",
        "/opt/ledger2/x",
    ] {
        assert!(!permits(name), "{name}");
    }
    assert!(bounds.permit_identifier("anything").is_ok());
    assert!(bounds.permit_identifier("secretpad").is_err());
    let path = policy(&["/home/ann/Tool"], &[]);
    assert!(path.permits(&app(&["/home/ann/Tool"], &[])));
    assert!(!path.permits(&app(&["/home/ann/tool"], &[])));
}

#[test]
fn an_app_is_opened_only_if_one_name_is_allowed_and_none_is_denied() {
    let permitted = |p: &Policy, names: &[&str]| p.permit_start(&app(names, &[]), false).is_ok();
    let calculator = policy(&["org.gnome.Calculator"], &[]);
    assert!(permitted(
        &calculator,
        &["org.gnome.Calculator", "gnome-calculator"]
    ));
    let refused = calculator.permit_start(&app(&["bash"], &[]), false);
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("bash") && refused.contains("'org.gnome.Calculator'"),
        "{refused}"
    );
    assert!(!permitted(&calculator, &[]));
    let denied = policy(&[], &["firefox"]);
    assert!(permitted(&denied, &["mousepad"]));
    assert!(!permitted(&denied, &["Web Browser", "firefox-esr"]));
    assert!(!permitted(&denied, &[]));
    assert!(permitted(&policy(&[], &[]), &[]));
}

#[test]
fn commands_are_opened_only_if_allowed_or_if_no_bounds_are_set() {
    let command = Identity {
        is_command: true,
        ..Identity::named("pad")
    };
    let asks = Policy {
        grants: Grants::new(None, true),
        ..Policy::default()
    };
    for bounds in [policy(&["pad"], &[]), policy(&[], &["vault"]), asks] {
        let refused = bounds.permit_start(&command, true).unwrap_err().to_string();
        assert!(refused.contains("--allow-commands"), "{refused}");
    }
    let mut lifted = policy(&["pad"], &[]);
    lifted.commands = true;
    assert!(lifted.permit_start(&command, true).is_ok());
    assert!(policy(&[], &[]).permit_start(&command, true).is_ok());
}

#[test]
fn an_app_that_keeps_passwords_is_not_started_unless_it_is_named() {
    let starts = |p: &Policy, private| {
        let known = p.permit_start(&app(&["seahorse"], &[]), private).is_ok();
        let said = p
            .permit_start(&app(&["/tmp/x"], &["seahorse"]), private)
            .is_ok();
        (known, said)
    };
    assert_eq!(starts(&policy(&[], &[]), false), (false, false));
    assert_eq!(starts(&policy(&[], &[]), true), (true, true));
    assert_eq!(starts(&policy(&["seahorse"], &[]), false), (true, false));
}

#[test]
fn the_name_that_an_app_gives_itself_can_deny_it_but_never_allow_it() {
    let claims = |p: &Policy, claim| p.permits(&app(&["thing"], &[claim]));
    assert!(!claims(&policy(&[], &["vault"]), "My Vault"));
    assert!(claims(&policy(&[], &["vault"]), "Calculator"));
    assert!(!claims(&policy(&["Calculator"], &[]), "Calculator"));
}

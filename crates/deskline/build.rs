//! Puts the manifest into `deskline.exe`, and into `deskline-selftest.exe`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    let folder = |name| PathBuf::from(env::var_os(name).unwrap_or_default());
    // The self-test, which is another package, has the same manifest.
    let own = folder("CARGO_MANIFEST_DIR");
    let mut files = own
        .ancestors()
        .map(|dir| dir.join("crates/deskline/deskline.manifest"));
    let manifest = files.find(|file| file.is_file()).unwrap_or_default();
    println!("cargo:rerun-if-changed={}", manifest.display());
    let of = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if of("OS") != "windows" {
        return;
    }
    if of("ENV") == "msvc" {
        println!("cargo:rustc-link-arg-bins=/MANIFEST:EMBED");
        println!(
            "cargo:rustc-link-arg-bins=/MANIFESTINPUT:{}",
            manifest.display()
        );
        return;
    }
    match object(&manifest, &folder("OUT_DIR"), &of("ARCH")) {
        Some(object) => println!("cargo:rustc-link-arg-bins={}", object.display()),
        None => println!("cargo:warning=the program has no manifest: windres is missing"),
    }
}

/// Compiles the manifest by windres, of MinGW.
fn object(manifest: &Path, out: &Path, processor: &str) -> Option<PathBuf> {
    let (script, object) = (out.join("manifest.rc"), out.join("manifest.o"));
    let path = manifest.to_str()?.replace('\\', "/");
    // 24 is the type of manifests (RT_MANIFEST), 1 the number of a program's own manifest.
    fs::write(&script, format!("1 24 \"{path}\"\n")).ok()?;
    let names = [
        format!("{processor}-w64-mingw32-windres"),
        "windres".to_owned(),
    ];
    let compiles = |name: &String| {
        let mut windres = Command::new(name);
        let done = windres.arg(&script).arg(&object).status();
        done.is_ok_and(|status| status.success())
    };
    names.iter().any(compiles).then_some(object)
}

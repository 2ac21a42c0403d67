//! Lists the programs that run other programs, and finds the script that one of them runs.

/// Programs that run other programs: a process with one of these names may be any app.
#[rustfmt::skip]
const INTERPRETERS: [&str; 42] = [
    "sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "fish", "csh", "tcsh", "pwsh", "python", "pypy",
    "perl", "ruby", "java", "node", "deno", "bun", "gjs", "gjs-console", "electron", "flatpak", "snap",
    "mono", "lua", "luajit", "tclsh", "wish", "expect", "awk", "php", "guile", "jshell", "groovy",
    "julia", "octave", "racket", "swipl", "m4", "dc", "gnuplot",
];

/// Options of interpreters that neither take a value nor replace the script. Others may do either:
/// Perl's `-I` takes a value, and `sh -s` reads its script from standard input.
const HARMLESS: [(&str, &[&str]); 4] = [
    ("python", &["-u", "-B", "-E", "-s", "-O", "-I"]),
    ("pypy", &["-u", "-B", "-E", "-s", "-O", "-I"]),
    ("perl", &["-w"]),
    ("ruby", &["-w"]),
];

/// Whether a process with this name may be any app.
pub(super) fn is_interpreter(program: &str) -> bool {
    let version = program.find(|c: char| c.is_ascii_digit());
    let plain = &program[..version.unwrap_or(program.len())];
    let plain = plain.trim_end_matches('-').trim_end_matches("-static");
    INTERPRETERS.contains(&plain) || INTERPRETERS.contains(&program)
}

/// The script that an interpreter runs with these arguments. `None` if the arguments are the code.
pub(super) fn script<'l>(interpreter: &str, arguments: &'l [String]) -> Option<&'l str> {
    let all = HARMLESS
        .iter()
        .filter(|(name, _)| interpreter.starts_with(name));
    let is_harmless = |word: &str| all.clone().any(|(_, options)| options.contains(&word));
    let mut words = arguments.iter().map(String::as_str);
    loop {
        match words.next()? {
            "-jar" => return words.next(),
            word if is_harmless(word) => {}
            word if word.starts_with('-') => return None,
            word => return Some(word),
        }
    }
}

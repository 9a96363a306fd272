//! Says what the module is compiled from and by, for `ssdscope --version`.
//!
//! The commit is that of the environment variable `SSDSCOPE_COMMIT`, else of git, else of the file
//! `COMMIT` that a source distribution holds. Results depend on none of it.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

const VARIABLE: &str = "SSDSCOPE_COMMIT";
/// As `scripts/build-wheel.sh` asks: seven digits, and a word if files of git's were changed.
const DESCRIBE: [&str; 5] =
    ["describe", "--always", "--exclude=*", "--abbrev=7", "--dirty= with changes"];

fn main() {
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    println!("cargo::rerun-if-changed=build.rs");
    let given = env::var(VARIABLE).ok().filter(|commit| !commit.trim().is_empty());
    let commit = given.or_else(commit_of_git).or_else(recorded_commit);
    let commit = commit.as_deref().map_or("unknown", str::trim);
    println!("cargo::rustc-env={VARIABLE}={commit}");
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let compiler = output(Path::new("."), &rustc, &["--version"]);
    let version = compiler.as_deref().and_then(|text| text.split_whitespace().nth(1));
    println!("cargo::rustc-env=SSDSCOPE_COMPILER=rustc {}", version.unwrap_or("unknown"));
}

/// The commit of the repository that this is the root of; a source distribution may lie anywhere
/// inside another one.
fn commit_of_git() -> Option<String> {
    let root = Path::new("../..");
    if !output(root, "git", &["rev-parse", "--show-prefix"])?.is_empty() {
        return None;
    }
    // A commit is noticed by the log of HEAD, a change by the sources themselves.
    let log = root.join(output(root, "git", &["rev-parse", "--git-path", "logs/HEAD"])?);
    for watched in [log.as_path(), Path::new("..")] {
        if watched.exists() {
            println!("cargo::rerun-if-changed={}", watched.display());
        }
    }
    output(root, "git", &DESCRIBE)
}

fn recorded_commit() -> Option<String> {
    let commit = fs::read_to_string("COMMIT").ok()?;
    println!("cargo::rerun-if-changed=COMMIT");
    (!commit.trim().is_empty()).then_some(commit)
}

/// What a program prints, without the end of the line; nothing if it fails or is not there.
fn output(folder: &Path, program: &str, words: &[&str]) -> Option<String> {
    let done = Command::new(program).args(words).current_dir(folder).output().ok()?;
    let text = String::from_utf8(done.stdout).ok()?;
    done.status.success().then(|| text.trim_end_matches('\n').to_owned())
}

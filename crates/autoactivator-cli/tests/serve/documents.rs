//! Every curl of docs/server.md runs, and prints what stands there.

use std::process::Command;

use crate::common::Workplace;
use crate::serving::Serving;

const DOCUMENT: &str = include_str!("../../../../docs/server.md");

/// Each `$ curl` with the lines that stand below it; a line may end in a backslash.
fn examples() -> Vec<(String, Vec<&'static str>)> {
    let mut examples: Vec<(String, Vec<&str>)> = Vec::new();
    let (mut inside, mut continued) = (false, false);
    for line in DOCUMENT.lines() {
        if line.starts_with("```") {
            (inside, continued) = (false, false);
        } else if line.starts_with("$ curl") {
            examples.push((line[2..].to_owned(), Vec::new()));
            (inside, continued) = (true, line.ends_with('\\'));
        } else if let Some((command, output)) = examples.last_mut().filter(|_| inside) {
            if continued {
                *command += "\n";
                *command += line;
                continued = line.ends_with('\\');
            } else {
                output.push(line);
            }
        }
    }
    examples
}

#[test]
fn every_curl_of_the_document_runs() {
    if Command::new("curl").arg("--version").output().is_err() {
        println!("skipped: there is no curl");
        return;
    }
    let place = Workplace::new();
    let serving = Serving::start(&place, &["--keep-unknown", "1000"]);
    let examples = examples();
    assert!(examples.len() > 10, "the document has lost its examples");
    for (command, shown) in examples {
        let command = command.replace("127.0.0.1:7878", &serving.address.to_string());
        let output = Command::new("sh")
            .args(["-c", &command])
            .current_dir(place.path())
            .env("NO_PROXY", "*")
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "{command}: {printed}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(
            !printed.contains("\"error\"") || shown.iter().any(|line| line.contains("\"error\"")),
            "{command}: {printed}"
        );
        for line in shown {
            // What is left out, and what depends on the moment, is shown as dots.
            let pieces = line.split("...").map(str::trim).filter(|piece| !piece.is_empty());
            for piece in pieces {
                assert!(
                    printed.contains(piece),
                    "{command}\nshows {piece}\nprints {printed}"
                );
            }
        }
    }
}

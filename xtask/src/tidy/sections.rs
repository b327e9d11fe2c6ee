//! What a user must know stands in a section of its own: `# Errors` where a `Result` is returned,
//! `# Cancellation` where something is awaited (law A7 asks it of every combinator).

use super::finding::Finding;
use super::items::{Function, Type};
use super::source::{find_word, is_word};
use super::tree::{File, Tree};

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let functions = tree.library().flat_map(check_functions);
    functions.chain(tree.library().flat_map(|file| check_futures(tree, file))).collect()
}

fn check_functions(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    for function in public_functions(file) {
        if returns_result(function) && !function.docs.contains("# Errors") {
            findings.push(missing(file, function.first_line, &function.name, "# Errors"));
        }
        if function.is_async() && !function.docs.contains("# Cancellation") {
            findings.push(missing(file, function.first_line, &function.name, "# Cancellation"));
        }
    }
    findings
}

/// A public future says what its cancellation does, on the type or on a function that returns it.
fn check_futures(tree: &Tree, file: &File) -> Vec<Finding> {
    let futures = file.items.types.iter().filter(|it| it.public && !it.in_tests && is_future(file, &it.name));
    let silent = futures.filter(|it| !explained(tree, file, it));
    silent.map(|it| missing(file, it.line, &it.name, "# Cancellation")).collect()
}

fn explained(tree: &Tree, file: &File, future: &Type) -> bool {
    let same_crate = tree.library().filter(|other| other.package() == file.package());
    let makers =
        same_crate.flat_map(public_functions).filter(|it| find_word(it.returns(), &future.name).is_some());
    let by_maker = makers.into_iter().any(|maker| maker.docs.contains("# Cancellation"));
    future.docs.contains("# Cancellation") || by_maker || future.docs.contains("doc(hidden)")
}

fn public_functions(file: &File) -> impl Iterator<Item = &Function> {
    let public = file.items.functions.iter().filter(|it| it.is_public() && !it.in_tests);
    public.filter(|it| !it.docs.contains("doc(hidden)"))
}

fn returns_result(function: &Function) -> bool {
    let returned = function.returns();
    let path = &returned[..returned.find(|c| !is_word(c) && c != ':').unwrap_or(returned.len())];
    path.rsplit("::").next() == Some("Result") && !returned.starts_with("fmt::")
}

/// Whether the file says `impl .. Future for Name` or `IntoFuture for Name`.
fn is_future(file: &File, name: &str) -> bool {
    file.code.match_indices("Future for ").any(|(at, mark)| {
        let target = &file.code[at + mark.len()..];
        let target = target.strip_prefix("&mut ").unwrap_or(target);
        target[..target.find(|c| !is_word(c)).unwrap_or(target.len())] == *name
    })
}

fn missing(file: &File, line: usize, name: &str, section: &str) -> Finding {
    Finding::new(&file.path, line, format!("`{name}` has no `{section}` section"))
}

#[cfg(test)]
mod tests {
    use super::super::finding::told;
    use super::*;

    fn found(code: &str) -> Vec<String> {
        told(&check(&Tree::of(&[("crates/a/src/a.rs", code)])))
    }

    #[test]
    fn a_result_has_errors_and_an_await_has_cancellation() {
        let code = "//! x\n/// Reads.\npub async fn read() -> io::Result<u8> {}\n";
        assert_eq!(found(code).len(), 2);
        let code = "//! x\n/// Reads.\n///\n/// # Cancellation\n///\n/// # Errors\npub async fn read() -> Result<u8> {}\n";
        assert_eq!(found(code), [""; 0]);
        assert_eq!(found("//! x\npub(crate) fn f() -> Result<u8> {}\nfn g() -> fmt::Result {}\n"), [""; 0]);
    }

    #[test]
    fn a_public_future_is_explained_once() {
        let future = "//! x\n/// Sleeps.\npub struct Sleep;\nimpl Future for Sleep {}\n";
        assert_eq!(found(future), ["crates/a/src/a.rs:3: `Sleep` has no `# Cancellation` section"]);
        let maker = "/// Sleeps.\n///\n/// # Cancellation\npub fn sleep() -> Sleep {}\n";
        assert_eq!(found(&format!("{future}{maker}")), [""; 0]);
    }

    /// The checks above, on the real crate, are the test of the law.
    #[test]
    fn law_a7_every_combinator_says_what_its_cancellation_does() {
        let tree = Tree::read(&crate::shell::root()).unwrap();
        let combinators = tree.library().filter(|file| file.package() == "crates/combinators");
        let findings: Vec<_> = combinators.flat_map(|file| silent_combinators(&tree, file)).collect();
        assert_eq!(told(&findings), [""; 0]);
    }

    /// Free public functions of the combinators, too: each is a combinator, whatever it returns.
    fn silent_combinators(tree: &Tree, file: &File) -> Vec<Finding> {
        let free = public_functions(file).filter(|it| it.is_free() && !it.docs.contains("# Cancellation"));
        let mut findings: Vec<_> =
            free.map(|it| missing(file, it.first_line, &it.name, "# Cancellation")).collect();
        findings.extend(check_futures(tree, file));
        findings
    }
}

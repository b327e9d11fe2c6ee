//! Finds functions and types with their documentation. Relies on rustfmt's layout: an item's first line holds
//! its visibility and its name, and its documentation and attributes stand right above.

use super::source::{find_word, is_word, line_of, words_at};

/// What a Rust file declares.
#[derive(Default)]
pub(crate) struct Items {
    pub(crate) functions: Vec<Function>,
    pub(crate) types: Vec<Type>,
}

/// A function with or without a body.
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) first_line: usize,
    pub(crate) last_line: usize,
    /// From the line's start to the body.
    pub(crate) signature: String,
    pub(crate) docs: String,
    pub(crate) in_tests: bool,
}

/// A struct, enum or trait.
pub(crate) struct Type {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) public: bool,
    pub(crate) docs: String,
    pub(crate) in_tests: bool,
}

impl Items {
    /// Reads the items of a file from its text and its code, which have the same lines.
    pub(crate) fn find(text: &str, code: &str) -> Items {
        let lines: Vec<&str> = text.lines().collect();
        let tests = tests_begin(code);
        Items { functions: functions(&lines, code, tests), types: types(&lines, code, tests) }
    }
}

impl Function {
    pub(crate) fn is_public(&self) -> bool {
        self.signature.trim_start().starts_with("pub ")
    }

    pub(crate) fn is_async(&self) -> bool {
        find_word(&self.signature, "async").is_some_and(|at| at < self.signature.find("fn ").unwrap_or(0))
    }

    /// Whether it stands at the top of its module, outside any `impl` and `trait`.
    #[cfg(test)]
    pub(crate) fn is_free(&self) -> bool {
        !self.signature.starts_with(' ')
    }

    /// What it returns, or nothing.
    pub(crate) fn returns(&self) -> &str {
        match self.signature.rsplit_once(")") {
            // `-> impl Fn(A) -> B` has a later bracket; the first arrow at the outer level is wanted.
            Some(_) => outer_arrow(&self.signature).map_or("", |at| self.signature[at + 2..].trim()),
            None => "",
        }
    }

    pub(crate) fn lines(&self) -> usize {
        self.last_line - self.first_line + 1
    }
}

fn functions(lines: &[&str], code: &str, tests: usize) -> Vec<Function> {
    words_at(code, "fn")
        .filter_map(|at| {
            let name: String = code[at + 2..].trim_start().chars().take_while(|c| is_word(*c)).collect();
            let declared = code[at + 2..].starts_with(' ') && !name.is_empty();
            if !declared {
                return None;
            }
            let start = code[..at].rfind('\n').map_or(0, |newline| newline + 1);
            let body = body_begin(code, at)?;
            let first_line = line_of(code, at);
            Some(Function {
                name,
                first_line,
                last_line: line_of(code, body_end(code, body)),
                signature: code[start..body].to_owned(),
                docs: docs_above(lines, first_line),
                in_tests: at >= tests,
            })
        })
        .collect()
}

fn types(lines: &[&str], code: &str, tests: usize) -> Vec<Type> {
    let mut found = Vec::new();
    for keyword in ["struct", "enum", "trait"] {
        for at in words_at(code, keyword) {
            let rest = code[at + keyword.len()..].trim_start();
            let name: String = rest.chars().take_while(|c| is_word(*c)).collect();
            let start = code[..at].rfind('\n').map_or(0, |newline| newline + 1);
            let line = line_of(code, at);
            let public = code[start..at].trim_start().starts_with("pub ");
            let docs = docs_above(lines, line);
            found.push(Type { name, line, public, docs, in_tests: at >= tests });
        }
    }
    found
}

/// The offset at which the file's own test module begins, or its end.
fn tests_begin(code: &str) -> usize {
    let mut from = 0;
    while let Some(found) = code[from..].find("#[cfg(test)]") {
        let at = from + found;
        let item = code[at + "#[cfg(test)]".len()..].trim_start();
        let module =
            item.starts_with("mod ") && item.find(['{', ';']).is_some_and(|at| item[at..].starts_with('{'));
        if module {
            return at;
        }
        from = at + 1;
    }
    code.len()
}

/// The documentation above a line: `///` lines, with attributes between them skipped.
fn docs_above(lines: &[&str], line: usize) -> String {
    let above = lines[..line - 1].iter().rev().map(|line| line.trim());
    let block = above.take_while(|line| {
        line.starts_with("///") || line.starts_with("#[") || line.ends_with(")]") || line.starts_with("#![")
    });
    let docs: Vec<&str> = block.filter(|line| line.starts_with("///") || line.contains("doc")).collect();
    docs.into_iter().rev().collect::<Vec<_>>().join("\n")
}

/// The `{` or `;` behind a signature.
fn body_begin(code: &str, from: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, byte) in code.bytes().enumerate().skip(from) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.checked_sub(1)?,
            b'{' | b';' if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

/// The closing bracket of the body that begins at `begin`; a `;` is its own end.
fn body_end(code: &str, begin: usize) -> usize {
    let mut depth = 0;
    for (at, byte) in code.bytes().enumerate().skip(begin) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    code.len()
}

/// The arrow of the function itself: the one outside every bracket.
fn outer_arrow(signature: &str) -> Option<usize> {
    let (mut round, mut angle) = (0, 0);
    let bytes = signature.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'(' | b'[' => round += 1,
            b')' | b']' => round -= 1,
            b'<' => angle += 1,
            b'>' if at > 0 && bytes[at - 1] == b'-' => {
                let outer = round == 0 && angle == 0;
                if outer {
                    return Some(at - 1);
                }
            }
            b'>' => angle -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
/// Adds.
///
/// # Errors
#[inline]
pub fn add<F: Fn(u8) -> u8>(
    f: F,
) -> io::Result<[u8; 2]>
where
    F: Copy,
{
    if true {}
    fn_like();
}

trait T {
    async fn late(&self);
}

/// A type.
#[derive(Debug)]
pub struct S;

#[cfg(test)]
mod tests {
    fn helper() {}
}
";

    fn items() -> Items {
        Items::find(TEXT, &super::super::source::blank(TEXT))
    }

    #[test]
    fn functions_have_extent_signature_and_docs() {
        let items = items();
        let add = &items.functions[0];
        assert_eq!((add.name.as_str(), add.first_line, add.last_line, add.lines()), ("add", 5, 13, 9));
        assert!(add.is_public() && add.is_free() && !add.is_async() && !add.in_tests);
        assert!(add.docs.contains("# Errors"));
        assert!(add.returns().starts_with("io::Result<"), "{:?}", add.returns());
        let late = &items.functions[1];
        assert!(late.is_async() && !late.is_free() && !late.is_public());
        assert_eq!((late.lines(), late.returns()), (1, ""));
        assert!(items.functions[2].in_tests);
        assert_eq!(items.functions.len(), 3);
    }

    #[test]
    fn types_have_name_and_docs() {
        let items = items();
        let public: Vec<_> = items.types.iter().filter(|it| it.public).collect();
        assert_eq!(public.len(), 1);
        assert_eq!((public[0].name.as_str(), public[0].line), ("S", 21));
        assert!(public[0].docs.contains("A type."));
    }
}

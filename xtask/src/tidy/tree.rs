//! The files that the rules look at, read once.

use std::fs;
use std::io;
use std::path::Path;

use super::items::Items;
use super::source;

/// Hidden folders that belong to the project; all others belong to tools.
const HIDDEN: &[&str] = &[".cargo", ".ci", ".github"];

/// The text files of the repository, sorted by path.
pub(crate) struct Tree {
    files: Vec<File>,
}

/// A text file.
pub(crate) struct File {
    /// From the root of the repository, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
    /// For a Rust file its text with comments and literals blanked, else empty.
    pub(crate) code: String,
    /// Functions and types of a Rust file.
    pub(crate) items: Items,
}

impl Tree {
    /// Reads everything below `root` that is text and not built.
    pub(crate) fn read(root: &Path) -> io::Result<Tree> {
        let mut files = Vec::new();
        read_folder(root, "", &mut files)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Tree { files })
    }

    /// A tree for a test.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Tree {
        Tree { files: files.iter().map(|(path, text)| File::new(path, text.to_string())).collect() }
    }

    pub(crate) fn files(&self) -> &[File] {
        &self.files
    }

    /// The Rust files.
    pub(crate) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.is_rust())
    }

    /// The Rust files of the library crates: what a user compiles.
    pub(crate) fn library(&self) -> impl Iterator<Item = &File> {
        self.rust().filter(|file| file.path.starts_with("crates/") && file.path.contains("/src/"))
    }

    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }
}

impl File {
    fn new(path: &str, text: String) -> File {
        let code = if path.ends_with(".rs") { source::blank(&text) } else { String::new() };
        let items = Items::find(&text, &code);
        File { path: path.to_owned(), text, code, items }
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// The crate's folder: `crates/core` for `crates/core/src/lib.rs`.
    pub(crate) fn package(&self) -> &str {
        let inner = ["/src/", "/tests/", "/examples/", "/benches/", "/Cargo.toml"];
        inner.iter().find_map(|part| Some(&self.path[..self.path.find(part)?])).unwrap_or("")
    }

    /// The lines of the text, counted from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }
}

fn read_folder(root: &Path, below: &str, files: &mut Vec<File>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        let kind = entry.file_type()?;
        if kind.is_dir() {
            let foreign = name.starts_with('.') && !HIDDEN.contains(&name.as_str());
            // Build folders carry this mark, whatever their name.
            let built = entry.path().join("CACHEDIR.TAG").exists() || name == "target";
            if !foreign && !built {
                read_folder(root, &path, files)?;
            }
        } else if kind.is_file() {
            // What is not UTF-8 is not text, and no rule speaks about it.
            if let Ok(text) = String::from_utf8(fs::read(entry.path())?) {
                files.push(File::new(&path, text));
            }
        }
    }
    Ok(())
}

//! Blanks out comments and literals, so that a rule finds words only where they are code.

/// The text with every comment, string and character literal replaced by spaces; lines and offsets stay.
pub(crate) fn blank(text: &str) -> String {
    let mut out = text.as_bytes().to_vec();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let length = comment(rest).or_else(|| literal(rest));
        match length {
            Some(length) => {
                let visible = out[at..at + length].iter_mut().filter(|byte| **byte != b'\n');
                visible.for_each(|byte| *byte = b' ');
                at += length;
            }
            // A word is skipped whole, so that the `r` of `for"` is never taken for a raw string's.
            None => at += word_or_char(rest),
        }
    }
    String::from_utf8(out).expect("only whole tokens were replaced, by ASCII")
}

/// Whether `word` stands in `code` at a byte offset as a whole identifier.
pub(crate) fn find_word(code: &str, word: &str) -> Option<usize> {
    words_at(code, word).next()
}

/// Every offset at which `word` stands as a whole identifier or path.
pub(crate) fn words_at<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        let before = code[..at].chars().next_back();
        let after = code[at + word.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

/// The identifiers of the code, with their offsets.
pub(crate) fn identifiers(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let words = code.split(|c| !is_word(c)).filter(|word| !word.is_empty());
    words.map(|word| (word.as_ptr() as usize - code.as_ptr() as usize, word))
}

/// The line, counted from 1, of a byte offset.
pub(crate) fn line_of(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}

pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Length of the comment that begins here.
fn comment(rest: &str) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    if !rest.starts_with("/*") {
        return None;
    }
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += char_length(&rest[at..]);
        }
    }
    Some(at)
}

/// Length of the string or character literal that begins here.
fn literal(rest: &str) -> Option<usize> {
    let prefix = ["br", "cr", "r", "b", "c", ""].iter().find(|prefix| {
        let quoted = rest.strip_prefix(**prefix).unwrap_or("");
        let quoted = if prefix.ends_with('r') { quoted.trim_start_matches('#') } else { quoted };
        quoted.starts_with('"') || (matches!(**prefix, "b" | "") && quoted.starts_with('\''))
    })?;
    let body = &rest[prefix.len()..];
    let length = if prefix.ends_with('r') { raw(body)? } else { quoted(body)? };
    Some(prefix.len() + length)
}

fn raw(body: &str) -> Option<usize> {
    let hashes = body.len() - body.trim_start_matches('#').len();
    let end = format!("\"{}", "#".repeat(hashes));
    let inner = &body[hashes + 1..];
    Some(hashes + 1 + inner.find(&end).map_or(inner.len(), |at| at + end.len()))
}

fn quoted(body: &str) -> Option<usize> {
    let quote = body.chars().next()?;
    if quote == '\'' && is_lifetime(&body[1..]) {
        return None;
    }
    let mut escaped = false;
    for (at, c) in body.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    Some(body.len())
}

/// After a `'`: a lifetime has no second quote behind its first character.
fn is_lifetime(after: &str) -> bool {
    let mut chars = after.chars();
    chars.next() != Some('\\') && chars.next() != Some('\'')
}

fn word_or_char(rest: &str) -> usize {
    match rest.find(|c| !is_word(c)) {
        Some(0) => char_length(rest),
        Some(end) => end,
        None => rest.len(),
    }
}

fn char_length(rest: &str) -> usize {
    rest.chars().next().map_or(1, char::len_utf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked_and_nothing_moves() {
        let text = "let a = \"x // é\\\" y\"; // unsafe\nlet b = r#\"q\" \"#; /* a /* b */ c */ fn d<'a>(c: char) { '\\'' }";
        let code = blank(text);
        assert_eq!(code.len(), text.len());
        assert_eq!(
            code.split_whitespace().collect::<Vec<_>>().join(" "),
            "let a = ; let b = ; fn d<'a>(c: char) { }"
        );
    }

    #[test]
    fn raw_identifiers_and_prefixed_literals_are_told_apart() {
        let code = blank("r#type + br\"x\" + b'x' + c\"x\" + 'é' + 'static");
        assert_eq!(code.split_whitespace().collect::<Vec<_>>().join(" "), "r#type + + + + + 'static");
    }

    #[test]
    fn words_are_whole() {
        assert_eq!(words_at("unsafe my_unsafe unsafe_op unsafe", "unsafe").collect::<Vec<_>>(), [0, 27]);
        assert_eq!(find_word("std::threads", "std::thread"), None);
        assert_eq!(
            identifiers("fn a_1(b)").map(|(at, word)| (at, word.len())).collect::<Vec<_>>(),
            [(0, 2), (3, 3), (7, 1)]
        );
        assert_eq!(line_of("a\nb\nc", 4), 3);
    }
}

//! What a client asks, and how it knows the end of the answer.

use std::io::{self, Read, Write};
use std::net::TcpStream;

/// A kind of traffic. It has a name, so that a process can tell another one what to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Messages that come back as they are.
    Echo { size: usize },
    /// HTTP/1.1 requests on a connection that is kept.
    Http,
}

impl Shape {
    pub(crate) fn question(self) -> Vec<u8> {
        match self {
            Shape::Echo { size } => vec![b'.'; size],
            Shape::Http => b"GET /plaintext HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n".to_vec(),
        }
    }

    /// Asks once, to learn how long the answers are.
    pub(crate) fn first_answer(self, stream: &mut TcpStream) -> io::Result<usize> {
        stream.write_all(&self.question())?;
        let (mut answer, mut buffer) = (Vec::new(), [0; 4096]);
        while !self.is_whole(&answer) {
            match stream.read(&mut buffer)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => answer.extend_from_slice(&buffer[..count]),
            }
        }
        Ok(answer.len())
    }

    fn is_whole(self, answer: &[u8]) -> bool {
        match self {
            Shape::Echo { size } => answer.len() == size,
            Shape::Http => answer.ends_with(crate::runtimes::HELLO.as_bytes()),
        }
    }

    pub(crate) fn name(self) -> String {
        match self {
            Shape::Echo { size } => format!("echo-{size}"),
            Shape::Http => "http".to_owned(),
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Shape> {
        match name.strip_prefix("echo-") {
            Some(size) => Some(Shape::Echo { size: size.parse().ok()? }),
            None => (name == "http").then_some(Shape::Http),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back() {
        for shape in [Shape::Echo { size: 64 }, Shape::Http] {
            assert_eq!(Shape::parse(&shape.name()), Some(shape));
        }
        assert_eq!(Shape::parse("echo-much"), None);
    }

    #[test]
    fn an_answer_has_an_end() {
        assert!(!Shape::Echo { size: 2 }.is_whole(b".") && Shape::Echo { size: 2 }.is_whole(b".."));
        assert!(
            !Shape::Http.is_whole(b"HTTP/1.1 200 OK\r\n") && Shape::Http.is_whole(b"OK\r\n\r\nHello, world!")
        );
    }
}

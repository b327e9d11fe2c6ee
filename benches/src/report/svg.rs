//! As much of SVG as the charts need.

use std::fmt::Write;

/// A drawing that grows shape by shape. Colours are chosen so that it can be read on white and on black.
pub(crate) struct Drawing {
    width: f64,
    height: f64,
    body: String,
}

/// Where a text stands, seen from its point.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

pub(crate) const INK: &str = "#7a7a7a";
pub(crate) const PALE: &str = "#7a7a7a40";

/// The colour of a runtime or library, the same in all charts.
pub(crate) fn colour(name: &str) -> &'static str {
    match name {
        "brigade" => "#d9480f",
        "brigade-ct" => "#ff922b",
        "tokio" => "#1971c2",
        "tokio-ct" => "#4dabf7",
        "smol" => "#2f9e44",
        "epoll" => "#868e96",
        "asyncio" => "#e0a800",
        "uvloop" => "#c2255c",
        "task-tracker" | "futures-unordered" => "#0c8599",
        _ => "#7048e8",
    }
}

impl Drawing {
    pub(crate) fn new(width: f64, height: f64) -> Drawing {
        Drawing { width, height, body: String::new() }
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, width: f64) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.add(&format!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>"
        ));
    }

    pub(crate) fn bar(&mut self, corner: (f64, f64), size: (f64, f64), colour: &str) {
        let ((x, y), (width, height)) = (corner, size);
        self.add(&format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{colour}\"/>"
        ));
    }

    pub(crate) fn dot(&mut self, (x, y): (f64, f64), colour: &str) {
        self.add(&format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{colour}\"/>"));
    }

    pub(crate) fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, colour: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.add(&format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{}</text>",
            escaped(text)
        ));
    }

    pub(crate) fn finish(self) -> String {
        let Drawing { width, height, body } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
             height=\"{height:.0}\" font-family=\"sans-serif\" font-size=\"12\">\n{body}</svg>\n"
        )
    }

    fn add(&mut self, shape: &str) {
        writeln!(self.body, "{shape}").expect("a string takes everything");
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        let mut drawing = Drawing::new(10.0, 10.0);
        drawing.text((1.0, 2.0), Anchor::Start, INK, "a < b & c");
        assert!(drawing.finish().contains(">a &lt; b &amp; c</text>"));
    }
}

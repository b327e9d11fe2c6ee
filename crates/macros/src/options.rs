//! What stands in the brackets of an attribute: `workers = 2, signals, grace = "10s"`.
//!
//! An attribute takes what it knows, one by one, and whatever is left then is unknown.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Error, Lit, Result, Token};

/// The options that were given and not yet taken.
pub(crate) struct Options(Vec<Given>);

/// One option, `name` or `name = value`.
pub(crate) struct Given {
    pub(crate) name: Ident,
    value: Option<Value>,
}

enum Value {
    Literal(Lit),
    Word(Ident),
}

impl Options {
    pub(crate) fn parse(tokens: TokenStream) -> Result<Options> {
        let given = Punctuated::<Given, Token![,]>::parse_terminated.parse2(tokens)?;
        let given: Vec<Given> = given.into_iter().collect();
        for (index, option) in given.iter().enumerate() {
            if given[..index].iter().any(|before| before.name == option.name) {
                return Err(Error::new_spanned(&option.name, format!("`{}` is given twice", option.name)));
            }
        }
        Ok(Options(given))
    }

    pub(crate) fn take(&mut self, name: &str) -> Option<Given> {
        let index = self.0.iter().position(|option| option.name == name)?;
        Some(self.0.remove(index))
    }

    /// Fails if something is left; `known` lists what the attribute understands.
    pub(crate) fn finish(self, known: &str) -> Result<()> {
        match self.0.first() {
            None => Ok(()),
            Some(Given { name, .. }) => {
                Err(Error::new_spanned(name, format!("unknown option `{name}`; there are {known}")))
            }
        }
    }
}

impl Given {
    /// An option without a value.
    pub(crate) fn flag(&self) -> Result<()> {
        match self.value {
            None => Ok(()),
            Some(_) => Err(self.wrong(&format!("`{}` has no value: it is there or not", self.name))),
        }
    }

    /// A whole number from 1; `example` shows how it is written.
    pub(crate) fn count(&self, example: &str) -> Result<TokenStream> {
        match &self.value {
            Some(Value::Literal(Lit::Int(number))) if number.base10_parse::<u32>().is_ok_and(|n| n > 0) => {
                // Without a type of its own, so that it becomes what is wanted.
                let number = proc_macro2::Literal::u32_unsuffixed(number.base10_parse()?);
                Ok(number.into_token_stream())
            }
            _ => Err(self.wrong(&format!("`{}` is a whole number from 1: `{example}`", self.name))),
        }
    }

    /// One of `words`; `example` shows how it is written.
    pub(crate) fn word(&self, words: &[&str]) -> Result<String> {
        let known = |word: &&Ident| words.iter().any(|known| *word == known);
        match &self.value {
            Some(Value::Word(word)) if known(&word) => Ok(word.to_string()),
            _ => Err(self.wrong(&format!("`{}` is one of {}", self.name, words.join(", ")))),
        }
    }

    /// A span of time, as an expression.
    pub(crate) fn duration(&self) -> Result<TokenStream> {
        let millis = match &self.value {
            Some(Value::Literal(Lit::Int(seconds))) => {
                seconds.base10_parse::<u64>().ok().and_then(|seconds| seconds.checked_mul(1000))
            }
            Some(Value::Literal(Lit::Str(text))) => millis(&text.value()),
            _ => None,
        };
        match millis {
            Some(millis) => Ok(quote!(::core::time::Duration::from_millis(#millis))),
            None => {
                let examples = "\"500ms\", \"10s\", \"2min\", or seconds as a whole number";
                Err(self.wrong(&format!("`{}` is a span of time: {examples}", self.name)))
            }
        }
    }

    /// An error that is shown at the whole option.
    pub(crate) fn wrong(&self, message: &str) -> Error {
        Error::new_spanned(self, message)
    }
}

/// The milliseconds of `10s`.
fn millis(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let unit = match unit.trim_start() {
        "ms" => 1,
        "s" => 1000,
        "min" => 60_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

impl Parse for Given {
    fn parse(input: ParseStream<'_>) -> Result<Given> {
        let name = input.parse()?;
        let value = match input.parse::<Option<Token![=]>>()? {
            Some(_) if input.peek(Lit) => Some(Value::Literal(input.parse()?)),
            Some(_) => Some(Value::Word(input.parse()?)),
            None => None,
        };
        Ok(Given { name, value })
    }
}

impl ToTokens for Given {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.name.to_tokens(tokens);
        match &self.value {
            Some(Value::Literal(value)) => value.to_tokens(tokens),
            Some(Value::Word(value)) => value.to_tokens(tokens),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(text: &str) -> Given {
        let mut options = Options::parse(text.parse().expect("tokens")).expect("options");
        options.0.remove(0)
    }

    #[test]
    fn spans_of_time() {
        for (text, millis) in [
            (r#"grace = "500ms""#, 500_u64),
            (r#"grace = "10s""#, 10_000),
            (r#"grace = "10 s""#, 10_000),
            (r#"grace = "2min""#, 120_000),
            ("grace = 3", 3000),
            ("grace = 0", 0),
        ] {
            let want = quote!(::core::time::Duration::from_millis(#millis)).to_string();
            assert_eq!(only(text).duration().expect(text).to_string(), want, "{text}");
        }
        let wrong = ["\"10\"", "\"s\"", "\"1h\"", "\"-1s\"", "1.5", "soon", "\"99999999999999999999s\""];
        for value in wrong {
            let error = only(&format!("grace = {value}")).duration().expect_err(value);
            let want = r#"`grace` is a span of time: "500ms", "10s", "2min", or seconds as a whole number"#;
            assert_eq!(error.to_string(), want, "{value}");
        }
        assert!(only("grace").duration().is_err());
    }

    #[test]
    fn counts_and_words() {
        assert_eq!(only("workers = 4").count("workers = 4").expect("a count").to_string(), "4");
        assert_eq!(only("workers = 4usize").count("workers = 4").expect("a count").to_string(), "4");
        for wrong in
            ["workers = 0", "workers = -1", "workers = \"4\"", "workers = 1.5", "workers = n", "workers"]
        {
            let error = Options::parse(wrong.parse().expect("tokens"));
            let error = error.and_then(|mut options| options.0.remove(0).count("workers = 4"));
            assert!(error.is_err(), "{wrong}");
        }
        assert_eq!(only("backend = simulation").word(&["simulation"]).expect("a word"), "simulation");
        let error = only("backend = tokio").word(&["simulation", "multi_thread"]).expect_err("no such word");
        assert_eq!(error.to_string(), "`backend` is one of simulation, multi_thread");
        assert!(only("signals").flag().is_ok());
        assert_eq!(
            only("signals = true").flag().expect_err("a value").to_string(),
            "`signals` has no value: it is there or not"
        );
    }

    #[test]
    fn twice_and_unknown() {
        let twice = Options::parse(quote!(workers = 1, signals, workers = 2));
        assert_eq!(twice.err().expect("twice").to_string(), "`workers` is given twice");
        let mut options = Options::parse(quote!(signals, threads = 2,)).expect("options");
        assert!(options.take("signals").is_some_and(|given| given.name == "signals"));
        assert_eq!(
            options.finish("`signals`").expect_err("unknown").to_string(),
            "unknown option `threads`; there are `signals`"
        );
    }
}

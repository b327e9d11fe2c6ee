//! The `async fn` below an attribute: what it must look like, and the plain function that takes its place.
//!
//! The body is carried over as it was written, unparsed, so that mistakes in it are reported by the compiler as if
//! there were no attribute.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Error, Generics, Result, ReturnType, Token, Visibility};

/// An `async fn` without parameters.
pub(crate) struct Function {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    pub(crate) name: Ident,
    output: ReturnType,
    body: Group,
}

impl Function {
    /// Where mistakes in the type of the outcome are shown: at that type.
    pub(crate) fn outcome_span(&self) -> Span {
        let name = || self.name.clone().into_token_stream();
        let shown = match &self.output {
            ReturnType::Default => name(),
            ReturnType::Type(_, output) => output.to_token_stream(),
        };
        // Names in what is written there are still looked up as at the attribute.
        shown
            .into_iter()
            .next()
            .map_or_else(Span::call_site, |token| token.span())
            .resolved_at(Span::call_site())
    }

    /// A call of the function; only `replaced_by` may write it.
    pub(crate) fn call(&self) -> TokenStream {
        let name = &self.name;
        quote!(#name())
    }

    /// The plain function of the same name, whose body declares this one and is `runs` otherwise.
    pub(crate) fn replaced_by(
        &self,
        above: &TokenStream,
        returns: &TokenStream,
        runs: &TokenStream,
    ) -> TokenStream {
        let Function { attributes, visibility, name, output, body } = self;
        quote! {
            #above
            #(#attributes)*
            #visibility fn #name() #returns {
                async fn #name() #output #body
                #runs
            }
        }
    }
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> Result<Function> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let is_async = input.parse::<Option<Token![async]>>()?.is_some();
        if !input.peek(Token![fn]) {
            return Err(input.error("this attribute belongs above an `async fn`"));
        }
        let keyword: Token![fn] = input.parse()?;
        if !is_async {
            return Err(Error::new_spanned(keyword, "the function must be async: write `async fn`"));
        }
        let name = input.parse()?;
        without_parameters(input)?;
        let output = input.parse()?;
        Ok(Function { attributes, visibility, name, output, body: input.parse()? })
    }
}

/// The generic parameters and the arguments: there must be none, because nobody would give them.
fn without_parameters(input: ParseStream<'_>) -> Result<()> {
    let generics: Generics = input.parse()?;
    if !generics.params.is_empty() {
        return Err(Error::new_spanned(
            generics,
            "the function cannot be generic: nobody calls it with a type",
        ));
    }
    let arguments: Group = input.parse()?;
    if !arguments.stream().is_empty() {
        let message = "the function takes no arguments: nobody would give them";
        return Err(Error::new_spanned(arguments.stream(), message));
    }
    Ok(())
}

/// The error, and an empty function of the same name, so that a missing `main` is not reported besides.
pub(crate) fn refuse(item: &TokenStream, error: &Error) -> TokenStream {
    let error = error.to_compile_error();
    let name = name_of(item).unwrap_or_else(|| format_ident!("_refused"));
    quote_spanned! {name.span()=>
        #error
        #[allow(dead_code, reason = "it only stands for the function that was refused")]
        fn #name() {}
    }
}

/// The identifier after the first `fn`.
fn name_of(item: &TokenStream) -> Option<Ident> {
    let mut tokens = item.clone().into_iter();
    tokens.find(|token| matches!(token, TokenTree::Ident(word) if word == "fn"))?;
    match tokens.next() {
        Some(TokenTree::Ident(name)) => Some(name),
        _ => None,
    }
}

//! `#[brigade::test]`: a test on the simulation, under one schedule or many, or on a real backend.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Result;

use crate::function::Function;
use crate::options::{Given, Options};

const KNOWN: &str = "`seeds = 100`, `backend = simulation`, `backend = current_thread`, `backend = multi_thread`, \
                     `workers = 2`";
const BACKENDS: &[&str] = &["simulation", "current_thread", "multi_thread"];

pub(crate) fn expand(options: TokenStream, item: &TokenStream) -> Result<TokenStream> {
    let function: Function = syn::parse2(item.clone())?;
    let runs = runs(&function, Options::parse(options)?)?;
    let above = quote!(#[::core::prelude::v1::test]);
    Ok(function.replaced_by(&above, &TokenStream::new(), &runs))
}

fn runs(function: &Function, mut options: Options) -> Result<TokenStream> {
    let (seeds, workers) = (options.take("seeds"), options.take("workers"));
    let backend = options.take("backend").map(|given| given.word(BACKENDS)).transpose()?;
    options.finish(KNOWN)?;
    let backend = backend.as_deref().unwrap_or("simulation");
    only_with(workers.as_ref(), "multi_thread", backend)?;
    only_with(seeds.as_ref(), "simulation", backend)?;

    let (call, span) = (function.call(), function.outcome_span());
    if let Some(seeds) = seeds {
        let seeds = seeds.count("seeds = 100")?;
        return Ok(quote_spanned!(span=> ::brigade_testkit::explore(#seeds, || #call);));
    }
    let workers = workers.map(|given| given.count("workers = 2")).transpose()?.map(|n| quote!(.workers(#n)));
    let outcome = match backend {
        "current_thread" => quote_spanned!(span=> ::brigade::Runner::current_thread().run(#call)),
        "multi_thread" => quote_spanned!(span=> ::brigade::Runner::new()#workers.run(#call)),
        _ => quote_spanned!(span=> ::brigade_testkit::simulate(#call)),
    };
    Ok(quote_spanned!(span=> ::brigade::__private::conclude(#outcome)))
}

/// Fails if an option was given that makes sense on another backend only.
fn only_with(option: Option<&Given>, needed: &str, backend: &str) -> Result<()> {
    match option {
        Some(given) if backend != needed => {
            Err(given.wrong(&format!("`{}` needs `backend = {needed}`, and this is {backend}", given.name)))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(options: TokenStream) -> String {
        let made = expand(
            options,
            &quote!(
                async fn soup() -> Result<(), Cold> {
                    Ok(())
                }
            ),
        )
        .expect("it is right");
        made.to_string()
    }

    fn error(options: TokenStream) -> String {
        expand(
            options,
            &quote!(
                async fn soup() {}
            ),
        )
        .expect_err("a mistake")
        .to_string()
    }

    #[test]
    fn the_options_choose_who_runs_the_test() {
        let want = quote! {
            #[::core::prelude::v1::test]
            fn soup() {
                async fn soup() -> Result<(), Cold> { Ok(()) }
                ::brigade::__private::conclude(::brigade_testkit::simulate(soup()))
            }
        };
        assert_eq!(made(TokenStream::new()), want.to_string());
        assert_eq!(made(quote!(backend = simulation)), want.to_string());
        for (options, call) in [
            (quote!(seeds = 9), quote!(::brigade_testkit::explore(9, || soup());)),
            (quote!(backend = current_thread), quote!(::brigade::Runner::current_thread().run(soup()))),
            (quote!(backend = multi_thread), quote!(::brigade::Runner::new().run(soup()))),
            (
                quote!(backend = multi_thread, workers = 2),
                quote!(::brigade::Runner::new().workers(2).run(soup())),
            ),
        ] {
            let made = made(options);
            assert!(made.contains(&call.to_string()), "{made}");
        }
    }

    #[test]
    fn mistakes_in_the_options() {
        assert_eq!(
            error(quote!(backend = tokio)),
            "`backend` is one of simulation, current_thread, multi_thread"
        );
        assert_eq!(error(quote!(seeds = 0)), "`seeds` is a whole number from 1: `seeds = 100`");
        assert_eq!(
            error(quote!(seeds = 5, backend = multi_thread)),
            "`seeds` needs `backend = simulation`, and this is multi_thread"
        );
        assert_eq!(
            error(quote!(workers = 2)),
            "`workers` needs `backend = multi_thread`, and this is simulation"
        );
        assert!(error(quote!(seed = 5)).starts_with("unknown option `seed`; there are `seeds = 100`, "));
    }

    #[test]
    fn a_plain_function_is_refused() {
        let error = expand(
            TokenStream::new(),
            &quote!(
                fn soup() {}
            ),
        )
        .expect_err("it is not async");
        assert_eq!(error.to_string(), "the function must be async: write `async fn`");
    }
}

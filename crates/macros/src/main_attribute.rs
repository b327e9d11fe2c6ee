//! `#[brigade::main]`: the options become calls of `Runner`'s methods.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Error, Result};

use crate::function::Function;
use crate::options::Options;

const KNOWN: &str = "`workers = 4`, `current_thread`, `signals`, `grace = \"10s\"`";

pub(crate) fn expand(options: TokenStream, item: &TokenStream) -> Result<TokenStream> {
    let function: Function = syn::parse2(item.clone())?;
    if function.name != "main" {
        let message = "`#[brigade::main]` is for `main`, since it makes the exit status of the process; elsewhere \
                       call `brigade::run`";
        return Err(Error::new_spanned(&function.name, message));
    }
    let runner = runner(Options::parse(options)?)?;
    let call = function.call();
    let runs = quote_spanned! {function.outcome_span()=>
        ::brigade::__private::run_main(#runner, #call)
    };
    Ok(function.replaced_by(&TokenStream::new(), &quote!(-> ::std::process::ExitCode), &runs))
}

fn runner(mut options: Options) -> Result<TokenStream> {
    let workers = options.take("workers");
    let mut runner = match (options.take("current_thread"), &workers) {
        (Some(one), Some(_)) => {
            return Err(one.wrong("`current_thread` is one worker, so `workers` cannot be given with it"));
        }
        (Some(one), None) => one.flag().map(|()| quote!(::brigade::Runner::current_thread()))?,
        (None, _) => quote!(::brigade::Runner::new()),
    };
    if let Some(workers) = workers {
        let count = workers.count("workers = 4")?;
        runner.extend(quote!(.workers(#count)));
    }
    if let Some(signals) = options.take("signals") {
        signals.flag()?;
        runner.extend(quote!(.signals(true)));
    }
    if let Some(grace) = options.take("grace") {
        let grace = grace.duration()?;
        runner.extend(quote!(.grace(#grace)));
    }
    options.finish(KNOWN)?;
    Ok(runner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(options: TokenStream, item: TokenStream) -> String {
        expand(options, &item).expect_err("a mistake").to_string()
    }

    #[test]
    fn the_options_become_a_runner() {
        let given = quote!(workers = 2, signals, grace = "1s");
        let made = expand(
            given,
            &quote!(
                #[doc = "x"]
                pub async fn main() -> ! {
                    loop {}
                }
            ),
        )
        .expect("it is right");
        let want = quote! {
            #[doc = "x"]
            pub fn main() -> ::std::process::ExitCode {
                async fn main() -> ! { loop {} }
                ::brigade::__private::run_main(
                    ::brigade::Runner::new().workers(2).signals(true).grace(::core::time::Duration::from_millis(1000u64)),
                    main()
                )
            }
        };
        assert_eq!(made.to_string(), want.to_string());
        let made = expand(
            quote!(current_thread),
            &quote!(
                async fn main() {}
            ),
        )
        .expect("it is right");
        assert!(made.to_string().contains("Runner :: current_thread ()"), "{made}");
    }

    #[test]
    fn mistakes_in_the_function() {
        let none = TokenStream::new;
        assert_eq!(
            error(
                none(),
                quote!(
                    fn main() {}
                )
            ),
            "the function must be async: write `async fn`"
        );
        assert_eq!(
            error(
                none(),
                quote!(
                    struct Main;
                )
            ),
            "this attribute belongs above an `async fn`"
        );
        assert_eq!(
            error(
                none(),
                quote!(
                    async fn main(arguments: Vec<String>) {}
                )
            ),
            "the function takes no arguments: nobody would give them"
        );
        assert_eq!(
            error(
                none(),
                quote!(
                    async fn main<T>() {}
                )
            ),
            "the function cannot be generic: nobody calls it with a type"
        );
        assert!(
            error(
                none(),
                quote!(
                    async fn serve() {}
                )
            )
            .starts_with("`#[brigade::main]` is for `main`")
        );
    }

    #[test]
    fn mistakes_in_the_options() {
        let item = || {
            quote!(
                async fn main() {}
            )
        };
        assert_eq!(
            error(quote!(threads = 2), item()),
            "unknown option `threads`; there are `workers = 4`, `current_thread`, `signals`, `grace = \"10s\"`"
        );
        assert_eq!(error(quote!(workers = 0), item()), "`workers` is a whole number from 1: `workers = 4`");
        assert_eq!(
            error(quote!(current_thread, workers = 2), item()),
            "`current_thread` is one worker, so `workers` cannot be given with it"
        );
    }
}

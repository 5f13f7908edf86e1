//! In the place of `serve.rs` and `live.rs` where the feature `serve` is off: a sentence that names it.

use crate::failure::Failure;

fn left_out() -> Failure {
    Failure::Service(
        "there is no service in this build, which was made without its feature `serve`; `cargo install --path \
         crates/cli` makes one that has it".to_owned(),
    )
}

pub(crate) mod serve {
    use std::io::Write;
    use std::path::Path;

    use clap::Args;

    use super::{Failure, left_out};

    /// Anything, so that whoever types a call of a whole build gets the sentence.
    #[derive(Debug, Args)]
    pub(crate) struct Arguments {
        #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
        _any: Vec<String>,
    }

    pub(crate) fn run(_: &Arguments, _: &mut impl Write) -> Result<(), Failure> {
        Err(left_out())
    }

    pub(crate) fn verify(_: &Path) -> Result<String, Failure> {
        Err(left_out())
    }
}

pub(crate) mod live {
    use std::io::Write;
    use std::path::Path;

    use clap::Args;

    use super::{Failure, left_out};

    #[derive(Debug, Args)]
    pub(crate) struct Arguments {
        #[arg(long, hide = true)]
        pub(crate) live: bool,
    }

    pub(crate) fn run(_: &Arguments, _: &Path, _: &mut impl Write) -> Result<(), Failure> {
        Err(left_out())
    }
}

//! Formulas as people write them, to models.
//!
//! ```text
//! sum      =  [+ | -] product { (+ | -) product }        a term with a minus is taken away
//! product  =  cross { * cross }                          a*b is a + b + a:b
//! cross    =  atom { : atom }
//! atom     =  ( sum )  |  0  |  1  |  field  |  pattern  |  function ( field {, number} )  |  hash ( sum , number )
//! field    =  letters, digits, _ and .   or anything between backticks
//! pattern  =  a field with * or ? in it; a * between two letters is a product
//! ```

use crate::error::{Error, Result, shortened};
use crate::model::{Factor, Model, Named, Reading, Term};

/// Parentheses inside of each other.
const DEEPEST: usize = 50;
/// Terms of a model, before they are distributed over levels.
const MOST_TERMS: usize = 10_000;
/// Largest number of buckets; sums grow with the square of it.
pub(crate) const MOST_BUCKETS: u32 = 4096;

/// A sum: its terms, and whether a `0` or `- 1` in it says that there is no intercept.
#[derive(Default)]
struct Sum {
    terms: Vec<Term>,
    no_intercept: bool,
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

pub(crate) fn model(text: &str) -> Result<Model> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let sum = parser.sum()?;
    if !parser.rest().is_empty() {
        return Err(parser.wrong("`+`, `:` or `*` must stand between fields"));
    }
    let intercept = !sum.no_intercept;
    Ok(Model::new(intercept, sum.terms.into_iter().filter(|term| !term.0.is_empty())))
}

/// Whether a name needs no backticks.
pub(crate) fn is_plain(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(starts_name) && letters.all(is_letter)
}

/// Whether a pattern reads back as itself.
pub(crate) fn is_plain_pattern(pattern: &str) -> bool {
    let mut parser = Parser { text: pattern, at: 0, depth: 0 };
    matches!(parser.name(), Ok(Named::Pattern(read)) if read == pattern) && parser.rest().is_empty()
}

fn starts_name(letter: char) -> bool {
    letter.is_alphabetic() || letter == '_'
}

fn is_letter(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '.')
}

impl Sum {
    fn times(&self, other: &Self) -> Self {
        let each = self.terms.iter().flat_map(|left| other.terms.iter().map(|right| left.times(right)));
        Self { terms: each.collect(), no_intercept: false }
    }
}

impl<'a> Parser<'a> {
    /// What is left, without the spaces in front.
    fn rest(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    /// Takes this letter, if it is the next.
    fn take(&mut self, letter: char) -> bool {
        let found = self.rest().starts_with(letter);
        self.at += if found { letter.len_utf8() } else { 0 };
        found
    }

    fn expect(&mut self, letter: char, after: &str) -> Result<()> {
        if self.take(letter) {
            return Ok(());
        }
        Err(self.wrong(format!("`{letter}` must stand {after}")))
    }

    fn wrong(&mut self, reason: impl Into<String>) -> Error {
        let rest = self.rest();
        let at = if rest.is_empty() { "its end".to_owned() } else { format!("{:?}", shortened(rest)) };
        Error::Model { at, reason: reason.into() }
    }

    fn sum(&mut self) -> Result<Sum> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.wrong(format!("parentheses are more than {DEEPEST} deep")));
        }
        let mut sum = Sum::default();
        let mut minus = self.take('-');
        if !minus {
            self.take('+');
        }
        loop {
            let nothing = self.rest().starts_with('0');
            let product = self.product()?;
            if minus {
                sum.no_intercept |= product.terms.iter().any(|term| term.0.is_empty());
                sum.terms.retain(|term| !product.terms.contains(term));
            } else {
                // The last word counts, as in R.
                let one = product.terms.iter().any(|term| term.0.is_empty());
                sum.no_intercept = (sum.no_intercept || nothing) && !one;
                let new: Vec<Term> =
                    product.terms.into_iter().filter(|term| !sum.terms.contains(term)).collect();
                sum.terms.extend(new);
            }
            if sum.terms.len() > MOST_TERMS {
                return Err(self.wrong(format!("there are more than {MOST_TERMS} terms")));
            }
            minus = self.take('-');
            if !minus && !self.take('+') {
                break;
            }
        }
        self.depth -= 1;
        Ok(sum)
    }

    fn product(&mut self) -> Result<Sum> {
        let mut product = self.cross()?;
        while self.take('*') {
            let factor = self.cross()?;
            self.check(&product, &factor)?;
            let both = product.times(&factor);
            product.terms.extend(factor.terms);
            product.terms.extend(both.terms);
        }
        Ok(product)
    }

    fn cross(&mut self) -> Result<Sum> {
        let mut product = self.atom()?;
        while self.take(':') {
            let factor = self.atom()?;
            self.check(&product, &factor)?;
            product = product.times(&factor);
        }
        Ok(product)
    }

    /// A product that would have too many terms is refused before it is made.
    fn check(&mut self, left: &Sum, right: &Sum) -> Result<()> {
        if left.terms.len().saturating_mul(right.terms.len()) > MOST_TERMS {
            return Err(self.wrong(format!("there are more than {MOST_TERMS} terms")));
        }
        Ok(())
    }

    fn atom(&mut self) -> Result<Sum> {
        let of = |factor| Sum { terms: vec![Term(vec![factor])], no_intercept: false };
        if self.take('(') {
            let sum = self.sum()?;
            self.expect(')', "at the end of what is in parentheses")?;
            return Ok(Sum { no_intercept: false, ..sum });
        }
        let rest = self.rest();
        if rest.starts_with(|first: char| first.is_ascii_digit()) {
            return match self.number()?.to_string().as_str() {
                "1" => Ok(Sum { terms: vec![Term::default()], no_intercept: false }),
                "0" => Ok(Sum::default()),
                other => {
                    Err(self.wrong(format!("of numbers, only 0 and 1 are terms, but before this is {other}")))
                }
            };
        }
        let called = rest.split('(').next().unwrap_or_default().trim_end();
        if rest.len() > called.len() && is_plain(called) && rest[called.len()..].trim_start().starts_with('(')
        {
            self.at += called.len();
            self.expect('(', "behind the name of a function")?;
            let factor = self.call(called)?;
            self.expect(')', "at the end of what a function is given")?;
            return Ok(of(factor));
        }
        Ok(of(Factor::Field(self.name()?, Reading::Natural)))
    }

    /// What a function is given, without its parentheses.
    fn call(&mut self, function: &str) -> Result<Factor> {
        Ok(match function {
            "C" => Factor::Field(self.name()?, Reading::Category),
            "N" => Factor::Field(self.name()?, Reading::Number),
            "pattern" => Factor::Field(Named::Pattern(self.field()?), Reading::Natural),
            "log" => Factor::Log(self.field()?),
            "bins" => Factor::Bins(self.field()?, self.count("bins", 2, 1000)?),
            "spline" => Factor::Spline(self.field()?, self.count("knots", 3, 50)?),
            "cyclic" => {
                let field = self.field()?;
                self.expect(',', "between the field and its period")?;
                let period = self.number()?;
                if !(period > 0.0 && period <= crate::value::LARGEST) {
                    return Err(self.wrong("a period must be positive"));
                }
                let more = self.rest().starts_with(',');
                Factor::Cyclic(field, period, if more { self.count("harmonics", 1, 50)? } else { 1 })
            }
            "hash" => {
                let Sum { terms, .. } = self.sum()?;
                if terms.iter().any(|term| term.0.is_empty()) || terms.is_empty() {
                    return Err(self.wrong("what is hashed must have fields"));
                }
                Factor::Hash(terms, self.count("buckets", 1, MOST_BUCKETS)?)
            }
            other => {
                let known = "C, N, hash, bins, cyclic, spline, log and pattern";
                return Err(self.wrong(format!("there is no function `{other}`; the functions are {known}")));
            }
        })
    }

    /// A comma and a whole number in a range.
    fn count(&mut self, what: &str, least: u32, most: u32) -> Result<u32> {
        self.expect(',', &format!("before the number of {what}"))?;
        let number = self.number()?;
        if number.fract() != 0.0 || !(f64::from(least)..=f64::from(most)).contains(&number) {
            return Err(
                self.wrong(format!("the number of {what} must be from {least} to {most}, but is {number}"))
            );
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole and in a small range"
        )]
        Ok(number as u32)
    }

    fn number(&mut self) -> Result<f64> {
        let rest = self.rest();
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len());
        let number = rest[..end].parse().map_err(|_| self.wrong("a number must stand here"))?;
        self.at += end;
        Ok(number)
    }

    /// One field by its name.
    fn field(&mut self) -> Result<String> {
        match self.name()? {
            Named::Name(name) => Ok(name),
            Named::Pattern(pattern) => {
                Err(self.wrong(format!("one field must be named, but `{pattern}` is a pattern")))
            }
        }
    }

    fn name(&mut self) -> Result<Named> {
        if self.take('`') {
            let mut name = String::new();
            loop {
                let Some(end) = self.text[self.at..].find('`') else {
                    return Err(self.wrong("a backtick opens here and is never closed"));
                };
                name.push_str(&self.text[self.at..][..end]);
                self.at += end + 1;
                if !self.text[self.at..].starts_with('`') {
                    return Ok(Named::Name(name));
                }
                name.push('`');
                self.at += 1;
            }
        }
        let rest = self.rest();
        let mut letters = rest.char_indices().peekable();
        let (mut end, mut pattern) = (0, false);
        while let Some((at, letter)) = letters.next() {
            match letter {
                '?' => pattern = true,
                // `a*b` is a product, `a_*` and `user.*` and `*` are patterns.
                '*' if letters
                    .peek()
                    .is_none_or(|&(_, next)| !starts_name(next) && !matches!(next, '(' | '`')) =>
                {
                    pattern = true;
                }
                letter if at == 0 && !starts_name(letter) => break,
                letter if !is_letter(letter) => break,
                _ => {}
            }
            end = at + letter.len_utf8();
        }
        if end == 0 {
            return Err(self.wrong("a field must stand here; odd names go between backticks"));
        }
        self.at += end;
        let name = rest[..end].to_owned();
        Ok(if pattern { Named::Pattern(name) } else { Named::Name(name) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        match model(text) {
            Ok(model) => {
                let shown = model.to_string();
                assert_eq!(shown.parse(), Ok(model), "{shown}");
                shown
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn formulas_mean_what_they_mean_elsewhere() {
        for (text, meaning) in [
            ("price", "price"),
            (" price+item ", "price + item"),
            ("a*b", "a + b + a:b"),
            ("a*b*c", "a + b + a:b + c + a:c + b:c + a:b:c"),
            ("id:(1 + age + hour)", "id + id:age + id:hour"),
            ("(a + b):(c + d)", "a:c + a:d + b:c + b:d"),
            ("user.*:item.*", "user.*:item.*"),
            ("f_? + x", "f_? + x"),
            ("*", "*"),
            ("0 + a", "0 + a"),
            ("a - 1", "0 + a"),
            ("-1 + a", "0 + a"),
            ("1", "1"),
            ("0", "0"),
            ("1 + a", "a"),
            ("a*b - a", "b + a:b"),
            ("a:a + b:a + a:b", "a + b:a"),
            ("hash(user:item + user, 1024):hour", "hash(user:item + user, 1024):hour"),
            (
                "bins(age,8) + cyclic(hour, 24, 2) + spline(age, 5) + log(x)",
                "bins(age, 8) + cyclic(hour, 24, 2) + spline(age, 5) + log(x)",
            ),
            ("cyclic(hour,24)", "cyclic(hour, 24, 1)"),
            ("C(store) + N(flag) + C(f_*)", "C(store) + N(flag) + C(f_*)"),
            ("`odd name!`:`a``b`", "`odd name!`:`a``b`"),
            ("größe + user.*.x", "größe + user.*.x"),
            ("pattern(`a*b`)", "pattern(`a*b`)"),
            ("a *b", "a + b + a:b"),
            ("a - 1 + 1", "a"),
            ("u.*:u.*", "u.*:u.*"),
            ("C", "C"),
        ] {
            assert_eq!(read(text), meaning);
        }
    }

    #[test]
    fn what_is_wrong_is_said_where_it_is() {
        for (text, sentence) in [
            ("", "the model is wrong at its end: a field must stand here; odd names go between backticks"),
            ("a +", "the model is wrong at its end: a field must stand here; odd names go between backticks"),
            ("a b", "the model is wrong at \"b\": `+`, `:` or `*` must stand between fields"),
            ("(a", "the model is wrong at its end: `)` must stand at the end of what is in parentheses"),
            (
                "a + 3",
                "the model is wrong at its end: of numbers, only 0 and 1 are terms, but before this is 3",
            ),
            (
                "foo(x)",
                "the model is wrong at \"x)\": there is no function `foo`; the functions are C, N, hash, bins, cyclic, spline, log and pattern",
            ),
            ("hash(x)", "the model is wrong at \")\": `,` must stand before the number of buckets"),
            (
                "hash(x, 5000)",
                "the model is wrong at \")\": the number of buckets must be from 1 to 4096, but is 5000",
            ),
            ("log(f_*)", "the model is wrong at \")\": one field must be named, but `f_*` is a pattern"),
            ("cyclic(h, 0)", "the model is wrong at \")\": a period must be positive"),
            ("`a", "the model is wrong at \"a\": a backtick opens here and is never closed"),
            ("a ~ b", "the model is wrong at \"~ b\": `+`, `:` or `*` must stand between fields"),
            ("hash(1, 4)", "the model is wrong at \", 4)\": what is hashed must have fields"),
        ] {
            assert_eq!(read(text), sentence);
        }
        let deep = format!("{}a{}", "(".repeat(60), ")".repeat(60));
        assert!(read(&deep).contains("more than 50 deep"));
        let many = "(a + b + c + d + e + f + g + h + i + j)";
        let wide = (0..6)
            .map(|k| many.replace(' ', "").replace('+', &format!("{k}+")))
            .collect::<Vec<_>>()
            .join(":");
        assert!(read(&wide).contains("more than 10000 terms"), "{}", read(&wide));
    }
}

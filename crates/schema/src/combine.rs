//! `anyOf` and `oneOf`: which alternative fits, and the error when none or too many do.

use super::compile::Reader;
use super::failure::{Failure, FailureData, Mismatch, Reason, Report, ValuePath, either};
use super::node::Node;
use super::types::Type;
use serde_json::Value;

/// The alternatives of a schema. Both lists are empty in most schemas.
#[derive(Debug, Default)]
pub(super) struct Alternatives {
    any_of: Vec<Node>,
    one_of: Vec<Node>,
}

impl Alternatives {
    /// Alternatives without a type of their own take over the types of the schema around them.
    pub fn read(reader: &mut Reader<'_, '_>, types: &[Type]) -> Self {
        Alternatives { any_of: reader.schemas("anyOf", types), one_of: reader.schemas("oneOf", types) }
    }

    /// The fitting alternative of `anyOf` and the one of `oneOf`, each absent where the keyword is.
    pub fn check<'n, R: Report>(&'n self, place: &ValuePath<'_>, value: &Value) -> Result<[Option<&'n Node>; 2], R> {
        Ok([
            if self.any_of.is_empty() { None } else { Some(self.check_any(place, value)?) },
            if self.one_of.is_empty() { None } else { Some(self.check_one(place, value)?) },
        ])
    }

    fn check_any<R: Report>(&self, place: &ValuePath<'_>, value: &Value) -> Result<&Node, R> {
        let fitting = self.any_of.iter().find(|node| node.check::<Mismatch>(place, value).is_ok());
        fitting.ok_or_else(|| R::of(|| no_match(&self.any_of, place, value)))
    }

    fn check_one<R: Report>(&self, place: &ValuePath<'_>, value: &Value) -> Result<&Node, R> {
        let mut fitting = self.one_of.iter().filter(|node| node.check::<Mismatch>(place, value).is_ok());
        match (fitting.next(), fitting.next()) {
            (Some(only), None) => Ok(only),
            (None, _) => Err(R::of(|| no_match(&self.one_of, place, value))),
            (Some(_), Some(_)) => Err(R::of(|| too_many(&self.one_of, place, value))),
        }
    }
}

/// Names the nearest alternative and its reason. `data.position` is sent only where "nearest" is beyond doubt.
fn no_match(nodes: &[Node], place: &ValuePath<'_>, value: &Value) -> Failure {
    let at = place.to_string();
    let failures: Vec<(usize, Failure)> = nodes
        .iter()
        .enumerate()
        .filter_map(|(position, node)| node.check::<Failure>(place, value).err().map(|failure| (position, failure)))
        .collect();
    // An alternative of another type was not intended, unless it is the only one.
    let meant = |failure: &Failure| nodes.len() == 1 || failure.reason != Reason::Type || failure.place != at;
    let meant: Vec<&(usize, Failure)> = failures.iter().filter(|(_, failure)| meant(failure)).collect();
    let sure = match (meant.as_slice(), value) {
        ([only], _) => Some(*only),
        (several, Value::Object(map)) => {
            let familiar = |(position, _): &&&(usize, Failure)| nodes[*position].count_listed(map);
            // The first one wins a tie, as in the reference server, hence the reversed walk.
            several.iter().rev().max_by_key(familiar).filter(|best| familiar(best) > 0).copied()
        }
        _ => None,
    };
    match (sure, meant.first()) {
        (Some((position, failure)), _) => {
            Failure::new(place, Reason::NoMatch, &nearest(&nodes[*position], *position, failure))
                .with(FailureData::Position(*position))
        }
        (None, Some((position, failure))) => {
            Failure::new(place, Reason::NoMatch, &nearest(&nodes[*position], *position, failure))
        }
        (None, None) => {
            let all: Vec<usize> = (0..nodes.len()).collect();
            Failure::new(place, Reason::NoMatch, &format!("is not valid as {}", titles(nodes, &all)))
        }
    }
}

fn nearest(node: &Node, position: usize, failure: &Failure) -> String {
    let title = node.title().map_or_else(|| format!("alternative {}", position + 1), str::to_owned);
    format!("is not valid as {title}: {}", failure.message.trim_end_matches('.'))
}

fn too_many(nodes: &[Node], place: &ValuePath<'_>, value: &Value) -> Failure {
    let fits = |position: &usize| nodes[*position].check::<Mismatch>(place, value).is_ok();
    let positions: Vec<usize> = (0..nodes.len()).filter(fits).collect();
    let rest = format!("may fit only one of its alternatives but could be {}", titles(nodes, &positions));
    Failure::new(place, Reason::MultipleMatches, &rest).with(FailureData::Positions(positions))
}

fn titles(nodes: &[Node], positions: &[usize]) -> String {
    let title = |position: &usize| {
        nodes[*position].title().map_or_else(|| format!("alternative {}", position + 1), str::to_owned)
    };
    let titles: Vec<String> = positions.iter().map(title).collect();
    either(&titles.iter().map(String::as_str).collect::<Vec<_>>())
}

//! Traps for programs that send forms: questions, fields that people do not see, and the time that people take.
//!
//! Nothing is stored: what a form gives away is signed, and comes back with the message.

use super::form::Form;
use crate::access::hashing::same_text;
use crate::access::identity::Identity;
use cms_text::fold;
use rand::RngExt as _;
use serde_json::{Map, Value, json};

/// Seconds after which a form that was shown is too old to be sent.
const OLDEST: i64 = 24 * 3600;

/// A question of each quiz of a form, with the proof of its answer.
pub fn questions(identity: &Identity, form: &Form<'_>) -> Map<String, Value> {
    let quizzes = form.of_kind("quiz").filter(|quiz| !quiz.values.is_empty());
    quizzes
        .map(|quiz| {
            let chosen = rand::rng().random_range(0..quiz.values.len());
            let (question, answer) = quiz.pairs().nth(chosen).unwrap_or_default();
            (quiz.name.to_owned(), json!([question, proof_of_answer(identity, form, quiz.name, answer)]))
        })
        .collect()
}

/// Whether an answer is the right one of the question whose proof comes with it.
pub fn is_answer(identity: &Identity, form: &Form<'_>, quiz: &str, given: &str, proof: &str) -> bool {
    let known = form.of_kind("quiz").filter(|tag| tag.name == quiz).flat_map(|tag| tag.pairs());
    let known = known.map(|(_, answer)| answer).filter(|answer| normal(answer) == normal(given));
    known.map(|answer| proof_of_answer(identity, form, quiz, answer)).any(|own| same_text(&own, proof))
}

fn proof_of_answer(identity: &Identity, form: &Form<'_>, quiz: &str, answer: &str) -> String {
    identity.proof(&format!("form-answer|{}|{quiz}|{}", form.id, normal(answer)))
}

/// Answers are compared without regard to capitals, marks and blanks.
fn normal(answer: &str) -> String {
    fold(answer).split_whitespace().collect()
}

/// The moment as which a form is shown now, for a form that may not be sent at once.
pub fn moment(identity: &Identity, form: &Form<'_>, now: i64) -> Option<String> {
    form.number("minimum_seconds")?;
    Some(format!("{now}.{}", proof_of_moment(identity, form, now)))
}

/// Whether a form was shown long enough ago, and not too long.
pub fn took_its_time(identity: &Identity, form: &Form<'_>, moment: &str, now: i64) -> bool {
    let Some(least) = form.number("minimum_seconds") else { return true };
    let shown = moment.split_once('.').and_then(|(at, proof)| Some((at.parse::<i64>().ok()?, proof)));
    shown.is_some_and(|(at, proof)| {
        let passed = now.saturating_sub(at);
        same_text(&proof_of_moment(identity, form, at), proof) && passed >= least && passed <= OLDEST
    })
}

fn proof_of_moment(identity: &Identity, form: &Form<'_>, at: i64) -> String {
    identity.proof(&format!("form-shown|{}|{at}", form.id))
}

//! Forms that everybody may send: their rules, their questions, and what is sent with them. A form is a row of a resource, and
//! so is a message; names of routes, members and codes are declared (`options.forms`).

mod form;
mod notice;
mod rules;
mod submission;
mod traps;

use crate::error::{ApiError, Code, refuse_if, status};
use crate::handlers::{Handler, Outcome, Work, handler, sync_handler};
use crate::model::Upload;
use crate::records::{self, Record, txt};
use crate::registry::link::parts::MESSAGE;
use crate::registry::name;
use crate::registry::resource::Resource;
use crate::registry::vocabulary::{BehaviourEntry, PLAIN, ResponseKind};
use crate::request::BodyParams;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cms_declaration::{FormMember, FormOptions, FormOutcome};
use cms_storage::plan::{Change, DbValue, Input, Put, Row, Target};
use form::Form;
use serde_json::{Map, Value, json};
use submission::{FieldProblem, Submission};

/// The response to a form that was sent.
const ANSWERED: &str = r#"{"type": "object", "description": "The members that `options.forms.members` declares."}"#;
/// Questions of a form.
const QUESTIONS: &str = r#"{"type": ["object", "array"], "description": "Questions by the name of their field, each with the proof of its answer."}"#;
/// Rules of a form.
const RULES: &str = r#"{"type": "object", "properties": {"version": {"type": "string"}, "locale": {"type": "string"}, "rules": {"type": "array", "items": {"type": "object"}}}}"#;

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[
    handler(
        "form.send",
        |w| Box::pin(send(w)),
        "Checks what is sent with a form, stores it as a row of another resource and tells the recipients.",
    )
    .fails(&[Code::FormMediaType, Code::RecordInvalidId, Code::FormPlace, Code::PayloadTooLarge, Code::TooManyRequests])
    .responds(ResponseKind::Json(status::OK, ANSWERED))
    .settings(&["forms"])
    .on(PLAIN),
    sync_handler(
        "form.refill",
        refill,
        "Responds with the questions of a form, and with the moment as which it is shown.",
    )
    .fails(&[Code::RecordInvalidId])
    .responds(ResponseKind::Json(status::OK, QUESTIONS))
    .settings(&["forms"])
    .on(PLAIN),
    sync_handler("form.rules", rules_of, "Responds with the rules about a form's fields.")
        .fails(&[Code::RecordInvalidId])
        .responds(ResponseKind::Json(status::OK, RULES))
        .settings(&["forms"])
        .on(PLAIN),
];

/// Bytes of all values of a message.
const MOST_TEXT: usize = 256 << 10;

/// Checks, stores and reports what was sent.
///
/// # Errors
/// It is no form of parts; there is no such form; it does not say where it is shown; it is too large; the database takes no
/// writes.
pub async fn send(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let (resource, declared) = declared(work)?;
    let refused = |code: Code| ApiError::new(resource.code(code));
    let upload = match work.body {
        BodyParams::Upload(upload) if upload.form => upload,
        _ => return Err(refused(Code::FormMediaType)),
    };
    let row = row(work)?;
    let record = Record { resource, row: &row };
    let form = Form::of(record, declared, work.scope.local_now());
    let place = place(upload, declared).ok_or_else(|| refused(Code::FormPlace))?;
    let identity = &work.shared.identity;
    let submission = Submission::of(work.scope, &form, declared, identity, upload);
    let (outcome, problems) = submission.judge();
    let mut digest = String::new();
    if outcome == FormOutcome::Sent {
        let values = submission.stored_values();
        let text = Value::Object(values.clone()).to_string();
        refuse_if(text.len() > MOST_TEXT, Code::PayloadTooLarge)?;
        digest = identity.proof(&format!("form-message|{}|{text}", form.id));
        if !form.is_on("demo_mode") {
            store(work, &form, &submission, values).await?;
        }
    }
    let answer = FormAnswer { form: &form, declared, outcome, problems, digest, place };
    let mut document = answer.document();
    if form.is_on("demo_mode") {
        document.insert("demo_mode".into(), json!(true));
    }
    let questions = traps::questions(identity, &form);
    if !questions.is_empty() {
        document.insert("quiz".into(), Value::Object(questions));
    }
    Ok(Outcome { private: true, ..Outcome::ok(Value::Object(document)) })
}

/// Where the page shows the form, by the letters that names of elements have.
fn place(upload: &Upload, declared: &FormOptions) -> Option<String> {
    let given = upload.fields.get(&declared.place)?.as_str()?;
    let clean: String = given.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).collect();
    (!matches!(&*clean, "" | "0") && clean.len() <= 200).then_some(clean)
}

/// The outcome for whoever has sent a form.
struct FormAnswer<'a> {
    form: &'a Form<'a>,
    declared: &'a FormOptions,
    outcome: FormOutcome,
    problems: Vec<FieldProblem<'a>>,
    digest: String,
    place: String,
}

impl FormAnswer<'_> {
    fn document(&self) -> Map<String, Value> {
        let value = |member: FormMember| match member {
            FormMember::Form => json!(self.form.id),
            FormMember::Status => json!(self.declared.statuses.get(&self.outcome)),
            FormMember::Text => json!(self.form.texts.get(self.outcome.text())),
            FormMember::Digest => json!(self.digest),
            FormMember::Place => json!(format!("#{}", self.place)),
            FormMember::Problems => self.problems.iter().map(|problem| self.problem(problem)).collect(),
        };
        self.declared.members.iter().map(|(name, member)| (name.clone(), value(*member))).collect()
    }

    fn problem(&self, problem: &FieldProblem<'_>) -> Value {
        let field = problem.field.replace('.', "_");
        let error = format!("{}-ve-{field}", self.place);
        json!({"field": field, "message": problem.message, "idref": problem.id, "error_id": error})
    }
}

/// Stores a message, and the notices of it.
async fn store(
    work: &Work<'_>,
    form: &Form<'_>,
    submission: &Submission<'_>,
    values: Map<String, Value>,
) -> Result<(), ApiError> {
    let (_, declared) = self::declared(work)?;
    let registry = &work.scope.registry;
    let messages = registry.resource(&declared.messages).ok_or_else(|| ApiError::new(Code::Internal))?;
    // Limits that name the messages count those that are taken.
    let limits = registry.declaration.limits.values().enumerate();
    let limits = limits.filter(|(_, limit)| limit.resources.contains(&declared.messages)).map(|(at, _)| at);
    work.shared.identity.throttle().request(work.scope, &limits.collect::<Vec<_>>())?;
    let mut files = Vec::new();
    for file in submission.files() {
        // Nothing slow is done while a transaction waits.
        work.scope.job_owner()?;
        let bytes = std::fs::read(file.path()).map_err(|error| work.scope.internal(&error))?;
        files.push(
            json!({"field": file.field, "name": file.name, "size": file.size, "content": STANDARD.encode(bytes)}),
        );
    }
    let notices = notice::of(work.scope, form, submission, &values)?;
    let [of, title, received, fields, sent] = MESSAGE.map(name);
    let set = vec![
        (of, Input::Value(DbValue::Int(form.id))),
        (title, Input::Value(txt(form.title))),
        (received, Input::Value(DbValue::Int(work.scope.now))),
        (fields, Input::Value(txt(&Value::Object(values).to_string()))),
        (sent, Input::Value(txt(&Value::Array(files).to_string()))),
    ];
    let mut changes = vec![Change::Put(Put::new(messages.table.clone(), Target::New, set))];
    changes.extend(notices);
    work.write(changes).await.map(|_| ())
}

/// The questions of a form.
///
/// # Errors
/// There is no such form.
pub fn refill(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let (resource, declared) = declared(work)?;
    let row = row(work)?;
    let form = Form::of(Record { resource, row: &row }, declared, work.scope.local_now());
    let identity = &work.shared.identity;
    let mut document = Map::new();
    let questions = traps::questions(identity, &form);
    if !questions.is_empty() {
        document.insert("quiz".into(), Value::Object(questions));
    }
    if let Some(moment) = traps::moment(identity, &form, work.scope.now) {
        document.insert(declared.shown.clone(), json!(moment));
    }
    let body = if document.is_empty() { json!([]) } else { Value::Object(document) };
    Ok(Outcome { private: true, ..Outcome::ok(body) })
}

/// The rules of a form.
///
/// # Errors
/// There is no such form.
pub fn rules_of(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let (resource, declared) = declared(work)?;
    let row = row(work)?;
    let record = Record { resource, row: &row };
    let form = Form::of(record, declared, work.scope.local_now());
    let all = rules::rules(&form);
    let uncached = all.iter().any(|rule| rule.condition.depends_on_today());
    let all: Vec<Value> = all.iter().map(|rule| rule.condition.document(rule.field, rule.error)).collect();
    let locale = match record.text("locale") {
        "" => work.scope.settings.locale(),
        own => own,
    };
    Ok(Outcome { uncached, ..Outcome::ok(json!({"version": declared.version, "locale": locale, "rules": all})) })
}

/// The form that the path names.
fn row(work: &Work<'_>) -> Result<Row, ApiError> {
    let resource = work.resource()?;
    let key = work.captures.get(&*resource.key).and_then(Value::as_str).and_then(|key| key.parse().ok());
    let found = match key {
        Some(key) => records::find(&*work.scope.snapshot()?, resource, &DbValue::Int(key))?,
        None => None,
    };
    found.ok_or_else(|| ApiError::new(resource.code(Code::RecordInvalidId)))
}

fn declared<'a>(work: &Work<'a>) -> Result<(&'a Resource, &'a FormOptions), ApiError> {
    let resource = work.resource()?;
    let declared = resource.declared.options.forms.as_ref();
    Ok((resource, declared.ok_or_else(|| ApiError::new(Code::Internal))?))
}

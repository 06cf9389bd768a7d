//! Following changes of the declarations while the server runs, and what operators learn of it.

use super::serve::{load, site};
use crate::backup;
use crate::boot::{self, BootError, ConfigSource, Services};
use crate::mailer::{self, MailContext, Mailer};
use crate::scheduler::{Scheduler, SchedulerStatus};
use crate::webhooks::{self, WebhookCounts, WebhookSender};
use cms_base::metrics::{Counter, Reading};
use cms_config::load::LoadedDeclaration;
use cms_config::places::DeclarationPlace;
use cms_core::handlers::ProcessInfo;
use cms_core::http::{Certificates, ServiceSwap};
use cms_core::log;
use cms_declaration::Migrate;
use cms_storage::Database;
use cms_storage::plan::Layout;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// State of the process that outlives a reload, for operators.
pub struct ProcessStatus {
    progress: Arc<SchedulerStatus>,
    backups: Arc<backup::BackupStatus>,
    mail: Arc<mailer::MailCounts>,
    pub webhooks: Arc<WebhookCounts>,
    accepted: Counter,
    refused: Counter,
    /// Why the newest declarations are not in force: a text for each problem.
    refusal: Mutex<Vec<String>>,
    /// Keys whose newest values need a restart.
    pending: Mutex<Vec<String>>,
}

impl ProcessStatus {
    /// Declarations in force, and what works beside the requests.
    pub fn new(
        progress: Arc<SchedulerStatus>,
        backups: Arc<backup::BackupStatus>,
        mail: Arc<mailer::MailCounts>,
    ) -> ProcessStatus {
        ProcessStatus {
            progress,
            backups,
            mail,
            webhooks: Arc::default(),
            accepted: Counter::default(),
            refused: Counter::default(),
            refusal: Mutex::default(),
            pending: Mutex::default(),
        }
    }

    fn note(&self, refusal: Vec<String>) {
        if refusal.is_empty() { &self.accepted } else { &self.refused }.inc();
        *self.refusal.lock().unwrap_or_else(PoisonError::into_inner) = refusal;
    }

    fn note_pending(&self, keys: Vec<String>) {
        *self.pending.lock().unwrap_or_else(PoisonError::into_inner) = keys;
    }

    fn refusal(&self) -> Vec<String> {
        self.refusal.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn waiting(&self) -> Vec<String> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The text of `/health` below `ok`: a line for each thing that wants an operator.
    pub fn warnings(&self) -> String {
        let mut text = String::new();
        let refusal = self.refusal();
        if let Some(why) = refusal.first().and_then(|first| first.lines().next()) {
            text += &format!("the newest declarations are refused, older ones are in force: {why}\n");
        }
        let pending = self.waiting();
        if !pending.is_empty() {
            text += &format!("changed keys wait for a restart: {}\n", pending.join(", "));
        }
        text
    }

    /// The readings of it on `/metrics`.
    pub fn readings(&self) -> Vec<Reading> {
        let refused = !self.refusal().is_empty();
        let pending = self.waiting().len();
        let mut readings = vec![
            Reading::count("cms_server_reloads", &["accepted"], self.accepted.get()),
            Reading::count("cms_server_reloads", &["refused"], self.refused.get()),
            Reading::gauge("cms_server_declarations_refused", &[], f64::from(u8::from(refused))),
            Reading::gauge("cms_server_restart_pending_keys", &[], pending as f64),
        ];
        readings.extend(self.progress.readings());
        readings.extend(self.backups.readings());
        readings.extend(self.mail.readings());
        readings.extend(self.webhooks.readings());
        readings
    }
}

/// The process as requests see it.
pub struct ServerProcess {
    pub storage: Arc<dyn Database>,
    pub status: Arc<ProcessStatus>,
    declared: Vec<DeclarationPlace>,
}

impl ServerProcess {
    /// Over a database, with what is declared.
    pub fn new(storage: Arc<dyn Database>, status: &Arc<ProcessStatus>, loaded: &LoadedDeclaration) -> ServerProcess {
        ServerProcess { storage, status: status.clone(), declared: loaded.places() }
    }
}

impl ProcessInfo for ServerProcess {
    fn declared(&self) -> &[DeclarationPlace] {
        &self.declared
    }

    fn refusal(&self) -> Vec<String> {
        self.status.refusal()
    }

    fn waiting(&self) -> Vec<String> {
        self.status.waiting()
    }

    fn disagreements(&self) -> Vec<String> {
        self.storage.disagreements()
    }

    fn backup_age(&self) -> Option<i64> {
        self.status.backups.age()
    }

    fn backup_failed(&self) -> bool {
        self.status.backups.failing()
    }
}

/// The values of the keys that only a start reads (`x-restart`), by their dotted paths.
pub fn fixed(loaded: &LoadedDeclaration) -> Vec<(String, Option<Value>)> {
    fn below<'a>(loaded: &'a LoadedDeclaration, path: &mut Vec<&'a str>, found: &mut Vec<(String, Option<Value>)>) {
        let grammar = &loaded.grammar;
        for key in grammar.keys(path) {
            path.push(key);
            if grammar.field(path).is_some_and(|field| field["x-restart"] == true) {
                found.push((path.join("."), loaded.value_at(path).or_else(|| grammar.default_at(path))));
            } else {
                below(loaded, path, found);
            }
            path.pop();
        }
    }
    let mut found = Vec::new();
    below(loaded, &mut Vec::new(), &mut found);
    found
}

/// Follows changes of the declarations.
pub struct ConfigWatcher {
    pub source: ConfigSource,
    /// The tables that the database was opened for, and what serves it.
    pub current: Arc<Mutex<(Layout, Services)>>,
    pub site: Arc<ServiceSwap>,
    pub scheduler: Scheduler,
    pub mailer: Arc<Mailer>,
    pub webhooks: Arc<WebhookSender>,
    pub address: String,
    pub status: Arc<ProcessStatus>,
    pub certificates: Option<Arc<Certificates>>,
    /// The settings that this process started with; see [`fixed`].
    pub fixed: Vec<(String, Option<Value>)>,
}

impl ConfigWatcher {
    /// Builds another registry and swaps it in if it is valid; otherwise the old one stays. The files to watch next.
    pub fn reload(&self) -> Vec<PathBuf> {
        let (outcome, files) = load(&self.source);
        if let Some(Err(error)) = self.certificates.as_ref().map(|certificates| certificates.renew()) {
            tracing::error!("{error}; the old certificate stays in use");
        }
        let done = outcome.and_then(|loaded| self.swap(&loaded).map(|()| self.waiting(&loaded)));
        match done {
            Ok(pending) => {
                log::notice("reloaded the declarations");
                super::serve::give_back();
                if !pending.is_empty() {
                    tracing::warn!("these changed keys keep their old values until a restart: {}", pending.join(", "));
                }
                self.status.note_pending(pending);
                self.status.note(Vec::new());
            }
            Err(error) => {
                self.status.note(match &error {
                    BootError::Problems(problems) => problems.iter().map(ToString::to_string).collect(),
                    error => vec![error.to_string()],
                });
                log::notice(&format!("{error}\nthe old declarations stay in force"));
            }
        }
        files
    }

    /// Keys whose values differ from those that the process started with.
    fn waiting(&self, loaded: &LoadedDeclaration) -> Vec<String> {
        let now = fixed(loaded);
        now.into_iter().filter(|entry| !self.fixed.contains(entry)).map(|(key, _)| key).collect()
    }

    fn swap(&self, loaded: &LoadedDeclaration) -> Result<(), BootError> {
        let registry = boot::registry(loaded, &self.address)?;
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let mut services = current.1.clone();
        // Other nodes take over the same declarations at the same time.
        let _starting = boot::place(&registry.declaration)?.start()?;
        if registry.layout != current.0 {
            // A half-typed property must not become a column: tables follow a reload only when that is configured.
            let migrates = registry.declaration.storage.migrate == Migrate::Auto;
            services.storage = boot::open(&registry, migrates)?;
        }
        services.seed(&registry)?;
        services.complete(&registry)?;
        webhooks::declare(&registry, &*services.storage)?;
        let layout = registry.layout.clone();
        let registry = Arc::new(registry);
        let calls = boot::calls(loaded)?;
        let post = MailContext::new(registry.clone(), &services)?;
        let insight = ServerProcess::new(services.storage.clone(), &self.status, loaded);
        let (service, hooks) = site(&services, calls, registry.clone(), insight)?;
        self.site.store(service);
        self.webhooks.take(hooks);
        self.scheduler.take(registry, services.storage.clone());
        self.mailer.take(post);
        *current = (layout, services);
        Ok(())
    }
}

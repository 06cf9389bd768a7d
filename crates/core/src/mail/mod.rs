//! Messages by SMTP, or as files in a folder. It knows what a message looks like, and not why it is sent.
//!
//! Header lines cannot be forged: addresses are parsed, and a subject is one line whatever the values in it contain.
//! The response of a mail server may name the recipient; [`SendError`] names nobody.

mod letters;

pub use letters::{MailContent, render};

use cms_base::platform;
use cms_declaration::Mail as Declared;
use lettre::message::header::{ContentType, HeaderName, HeaderValue, MIME_VERSION_1_0};
use lettre::message::{Mailbox, Message};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, CertificateStore, Tls, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::{SmtpTransport, Transport as _};
use percent_encoding::percent_decode_str;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use url::{Host, Url};

/// Replies that say that this message will never be accepted: other refusals may end when the operator or the mail server
/// changes something.
const FINAL: [u16; 5] = [550, 551, 552, 553, 556];

/// Longest address, in bytes (RFC 5321).
const LONGEST_ADDRESS: usize = 320;

/// Where messages go, as `mail.url` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MailRoute {
    Folder(PathBuf),
    Smtp(Server),
}

/// A mail server.
#[derive(Clone, PartialEq, Eq)]
pub struct Server {
    pub host: String,
    pub port: u16,
    pub encryption: Encryption,
    /// User and password.
    pub login: Option<(String, String)>,
}

/// How the connection to a mail server is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encryption {
    None,
    /// Begins in the clear; without STARTTLS nothing is sent.
    StartTls,
    /// From the first byte on.
    Tls,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{} ({:?})", self.host, self.port, self.encryption)
    }
}

impl MailRoute {
    /// Reads an address such as `smtps://user:password@host`.
    ///
    /// # Errors
    /// The problem, and its remedy. Neither repeats the address, which may hold a password.
    pub fn parse(text: &str) -> Result<MailRoute, (&'static str, &'static str)> {
        if let Some(folder) = text.strip_prefix("file:") {
            let folder = folder.strip_prefix("//").unwrap_or(folder);
            let wrong = ("the address names no folder", "write file:outbox");
            return if folder.is_empty() { Err(wrong) } else { Ok(MailRoute::Folder(folder.into())) };
        }
        const FORMS: &str = "write smtps://USER:PASSWORD@HOST, smtp://HOST?starttls, smtp://HOST or file:FOLDER";
        let url = Url::parse(text).map_err(|_| ("this is not the address of a mail server", FORMS))?;
        let (encryption, port) = match (url.scheme(), url.query()) {
            ("smtps", None) => (Encryption::Tls, 465),
            ("smtp", Some("starttls" | "starttls=")) => (Encryption::StartTls, 587),
            ("smtp", None) => (Encryption::None, 25),
            ("smtp" | "smtps", _) => {
                return Err(("after `?` there can be `starttls` alone, and only for smtp:", FORMS));
            }
            _ => return Err(("this is not the address of a mail server", FORMS)),
        };
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or(("the address names no host", FORMS))?;
        if !matches!(url.path(), "" | "/") || url.fragment().is_some() {
            return Err(("the address has more than a host and a port", FORMS));
        }
        let decoded = |text: &str| percent_decode_str(text).decode_utf8().map(std::borrow::Cow::into_owned).ok();
        let login = match (url.username(), url.password()) {
            ("", None) => None,
            (user, password) => Some((decoded(user), decoded(password.unwrap_or_default()))),
        };
        let login = match login {
            None => None,
            Some((Some(user), Some(password))) => Some((user, password)),
            Some(_) => return Err(("user or password are not UTF-8", "percent-encode their special characters")),
        };
        if login.is_some() && encryption == Encryption::None && !is_loopback(host) {
            let hint = "use smtps:, or append ?starttls";
            return Err(("the password would be sent unencrypted", hint));
        }
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        Ok(MailRoute::Smtp(Server { host, port: url.port().unwrap_or(port), encryption, login }))
    }
}

fn is_loopback(host: &str) -> bool {
    match Host::parse(host) {
        Ok(Host::Ipv4(ip)) => ip.is_loopback(),
        Ok(Host::Ipv6(ip)) => ip.is_loopback(),
        Ok(Host::Domain(name)) => name == "localhost",
        Err(_) => false,
    }
}

/// An address with or without a name: `Example <cms@example.org>`.
///
/// # Errors
/// It is not of this form.
pub fn mailbox(text: &str) -> Result<(), String> {
    parsed(text).map(drop)
}

fn parsed(text: &str) -> Result<Mailbox, String> {
    if text.len() > LONGEST_ADDRESS || text.chars().any(char::is_control) {
        return Err("this is not an e-mail address".into());
    }
    text.parse().map_err(|_| "this is not an e-mail address".to_owned())
}

/// Why a message was not sent; for the log, without addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendError {
    /// Another attempt is useless.
    pub permanent: bool,
    pub why: String,
}

impl SendError {
    fn new(permanent: bool, why: impl std::fmt::Display) -> SendError {
        let masked = |word: &str| if word.contains('@') { "<address>".to_owned() } else { word.to_owned() };
        let why = why.to_string().replace(|c: char| c.is_control(), " ");
        let words: Vec<String> = why.split_whitespace().map(masked).collect();
        SendError { permanent, why: words.join(" ").chars().take(300).collect() }
    }
}

impl From<lettre::transport::smtp::Error> for SendError {
    fn from(error: lettre::transport::smtp::Error) -> SendError {
        let last = error.status().is_some_and(|code| FINAL.contains(&u16::from(code)));
        SendError::new(last, error)
    }
}

enum MailTransport {
    Folder(PathBuf),
    Smtp(Box<SmtpTransport>),
}

/// Sends messages as the declarations say.
pub struct Sender {
    from: Mailbox,
    reply_to: Option<Mailbox>,
    transport: MailTransport,
}

impl Sender {
    /// The sender that `[mail]` declares; `None` when it is off. `host` is the name of this site. Files are read here.
    ///
    /// # Errors
    /// A file cannot be read or holds nothing that is wanted; the error names it.
    pub fn new(declared: &Declared, host: &str) -> Result<Option<Sender>, String> {
        let Some(url) = declared.url.get() else { return Ok(None) };
        let route = MailRoute::parse(url).map_err(|(wrong, _)| format!("mail.url: {wrong}"))?;
        let transport = match route {
            MailRoute::Folder(folder) => MailTransport::Folder(folder),
            MailRoute::Smtp(server) => MailTransport::Smtp(Box::new(connector(server, declared, host)?)),
        };
        let from = parsed(&declared.from).map_err(|wrong| format!("mail.from: {wrong}"))?;
        let reply_to = declared.reply_to.get().map(|text| parsed(text)).transpose();
        let reply_to = reply_to.map_err(|wrong| format!("mail.reply_to: {wrong}"))?;
        Ok(Some(Sender { from, reply_to, transport }))
    }

    /// Sends a letter, or waits no longer than the declared time for each step of it.
    pub fn send(&self, to: &str, letter: &MailContent) -> Result<(), SendError> {
        let message = self.message(to, letter, SystemTime::now())?;
        match &self.transport {
            MailTransport::Folder(folder) => deposit(folder, &message).map_err(|error| SendError::new(false, error)),
            MailTransport::Smtp(smtp) => Ok(smtp.send(&message).map(drop)?),
        }
    }

    /// Whether the mail server answers and accepts the credentials, or the folder can be written; nothing is sent.
    pub fn probe(&self) -> Result<(), SendError> {
        match &self.transport {
            MailTransport::Folder(folder) => {
                let written =
                    platform::make_private_folder(folder).and_then(|()| tempfile::NamedTempFile::new_in(folder));
                written.map(drop).map_err(|error| SendError::new(false, error))
            }
            MailTransport::Smtp(smtp) => match smtp.test_connection()? {
                true => Ok(()),
                false => Err(SendError::new(false, "the mail server ended the connection")),
            },
        }
    }

    fn message(&self, to: &str, letter: &MailContent, now: SystemTime) -> Result<Message, SendError> {
        const AUTO_SUBMITTED: HeaderName = HeaderName::new_from_ascii_str("Auto-Submitted");
        let to = to.parse().map_err(|_| SendError::new(true, "the address of the recipient is not one"))?;
        let id = format!("<{}@{}>", uuid::Uuid::new_v4(), self.from.email.domain());
        let mut builder = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(letter.subject.as_str())
            .date(now)
            .message_id(Some(id))
            // Programs that respond to mail, such as notices of absence, leave these alone (RFC 3834).
            .raw_header(HeaderValue::new(AUTO_SUBMITTED, "auto-generated".into()))
            .header(MIME_VERSION_1_0)
            .header(ContentType::TEXT_PLAIN);
        if let Some(reply_to) = &self.reply_to {
            builder = builder.reply_to(reply_to.clone());
        }
        builder.body(letter.body.clone()).map_err(|error| SendError::new(true, error))
    }
}

fn connector(server: Server, declared: &Declared, host: &str) -> Result<SmtpTransport, String> {
    let tls = |domain: &str| -> Result<TlsParameters, String> {
        let mut tls = TlsParameters::builder(domain.to_owned());
        if let Some(file) = declared.ca.get() {
            let pem = fs::read(file).map_err(|error| format!("mail.ca: {file}: {error}"))?;
            let missing = || format!("mail.ca: {file}: there is no certificate in PEM in this file");
            if !String::from_utf8_lossy(&pem).contains("-----BEGIN CERTIFICATE-----") {
                return Err(missing());
            }
            let authority = Certificate::from_pem(&pem).map_err(|_| missing())?;
            tls = tls.certificate_store(CertificateStore::None).add_root_certificate(authority);
        }
        tls.build().map_err(|error| format!("mail.url: {error}"))
    };
    let encryption = match server.encryption {
        Encryption::None => Tls::None,
        Encryption::StartTls => Tls::Required(tls(&server.host)?),
        Encryption::Tls => Tls::Wrapper(tls(&server.host)?),
    };
    let name = match Host::parse(host) {
        Ok(Host::Domain(name)) => ClientId::Domain(name),
        Ok(Host::Ipv4(ip)) => ClientId::Ipv4(ip),
        Ok(Host::Ipv6(ip)) => ClientId::Ipv6(ip),
        Err(_) => ClientId::default(),
    };
    let mut builder = SmtpTransport::builder_dangerous(server.host)
        .port(server.port)
        .tls(encryption)
        .hello_name(name)
        .timeout(Some(declared.timeout.std().max(Duration::from_millis(1))));
    if let Some((user, password)) = server.login {
        let password = match declared.password_file.get() {
            Some(file) => {
                let text = fs::read_to_string(file).map_err(|error| format!("mail.password_file: {file}: {error}"))?;
                text.lines().next().unwrap_or_default().to_owned()
            }
            None => password,
        };
        builder = builder.credentials(Credentials::new(user, password));
    }
    Ok(builder.build())
}

/// Writes a message into the folder, under its final name only when it is whole.
fn deposit(folder: &Path, message: &Message) -> std::io::Result<()> {
    platform::make_private_folder(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&message.formatted())?;
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let name = format!("{:010}-{:09}.eml", since.as_secs(), since.subsec_nanos());
    file.persist_noclobber(folder.join(name)).map(drop).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cms_declaration::units::OptionalSetting;
    use serde_json::json;

    fn smtp(text: &str) -> Server {
        match MailRoute::parse(text) {
            Ok(MailRoute::Smtp(server)) => server,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn addresses_of_mail_servers_say_how_to_connect() {
        let check = |text: &str, host: &str, port: u16, encryption: Encryption| {
            let server = smtp(text);
            assert_eq!((server.host.as_str(), server.port, server.encryption), (host, port, encryption), "{text}");
        };
        check("smtp://localhost", "localhost", 25, Encryption::None);
        check("smtp://localhost:1025/", "localhost", 1025, Encryption::None);
        check("smtp://[::1]:25", "::1", 25, Encryption::None);
        check("smtp://mail.example.org?starttls", "mail.example.org", 587, Encryption::StartTls);
        check("smtps://mail.example.org", "mail.example.org", 465, Encryption::Tls);
        let login = |text: &str| smtp(text).login.expect("a login");
        assert_eq!(login("smtps://ada:s%40cret%2B@h"), ("ada".into(), "s@cret+".into()));
        assert_eq!(login("smtps://ada%40example.org@h"), ("ada@example.org".into(), String::new()));
        assert_eq!(MailRoute::parse("file:/var/outbox"), Ok(MailRoute::Folder("/var/outbox".into())));
        assert_eq!(MailRoute::parse("file:outbox"), Ok(MailRoute::Folder("outbox".into())));
        assert!(!format!("{:?}", smtp("smtps://ada:secret@h")).contains("secret"));
    }

    #[test]
    fn other_addresses_are_refused_without_repeating_them() {
        for text in [
            "",
            "mail.example.org",
            "http://h",
            "smtp://",
            "smtp:///x",
            "smtps://h?starttls",
            "smtp://h?tls",
            "smtp://h/x",
            "smtps://h#x",
            "smtps://a:%ff@h",
            "smtp://ada:secret@mail.example.org",
            "file:",
            "file://",
        ] {
            let (wrong, hint) = MailRoute::parse(text).expect_err(text);
            assert!(!wrong.contains("secret") && !hint.contains("secret"), "{text}");
        }
        assert!(MailRoute::parse("smtp://ada:secret@127.0.0.1").is_ok(), "nothing leaves the machine");
    }

    fn sender(folder: &Path) -> Sender {
        let url = OptionalSetting::on(format!("file:{}", folder.display()));
        let from = "Zoë's site <cms@example.org>".to_owned();
        let declared =
            Declared { url, from, reply_to: OptionalSetting::on("help@example.org".into()), ..Declared::default() };
        Sender::new(&declared, "example.org").expect("a folder needs nothing").expect("it is on")
    }

    #[test]
    fn values_make_no_lines_of_a_header() {
        let folder = tempfile::TempDir::new().expect("a folder");
        let evil = "Site\r\nBcc: all@example.org\n\nText\u{2028}x";
        let data =
            json!({"site": evil, "login": "zoë\r\nX: y", "link": "https://a.example/?token=1", "lifetime": "1 hour"});
        let letter = render("reset", data).expect("a template");
        let sender = sender(folder.path());
        let text = String::from_utf8(
            sender.message("ada@example.org", &letter, SystemTime::UNIX_EPOCH).expect("a message").formatted(),
        );
        let text = text.expect("UTF-8");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let names: Vec<&str> =
            head.lines().filter(|l| !l.starts_with(' ')).filter_map(|l| l.split(':').next()).collect();
        let expected = [
            "From",
            "To",
            "Subject",
            "Date",
            "Message-ID",
            "Auto-Submitted",
            "MIME-Version",
            "Content-Type",
            "Reply-To",
            "Content-Transfer-Encoding",
        ];
        assert_eq!(names, expected, "{head}");
        assert!(head.contains("Date: Thu, 01 Jan 1970 00:00:00 +0000") && head.is_ascii(), "{head}");
        assert!(head.contains("@example.org>") && head.contains("Auto-Submitted: auto-generated"), "{head}");
        assert!(!body.lines().any(|line| line.starts_with("Bcc") || line.starts_with("X:")), "{body}");
        for wrong in [
            "ada",
            "ada@example.org, bob@example.org",
            "ada@example.org\r\nBcc: b@example.org",
            "<ada@example.org>",
            "",
        ] {
            assert!(sender.message(wrong, &letter, SystemTime::UNIX_EPOCH).is_err_and(|e| e.permanent), "{wrong}");
        }
    }

    #[test]
    fn a_folder_receives_whole_messages() {
        let folder = tempfile::TempDir::new().expect("a folder");
        let outbox = folder.path().join("a/b");
        let sender = sender(&outbox);
        assert_eq!(sender.probe(), Ok(()));
        let letter = render("test", json!({"site": "Site"})).expect("a template");
        for _ in 0..2 {
            assert_eq!(sender.send("ada@example.org", &letter), Ok(()));
        }
        let names: Vec<_> = fs::read_dir(&outbox).expect("a folder").flatten().map(|entry| entry.path()).collect();
        assert_eq!(names.len(), 2);
        assert!(names.iter().all(|path| path.extension().is_some_and(|end| end == "eml")), "{names:?}");
    }

    #[test]
    fn what_is_logged_names_nobody() {
        let error = SendError::new(true, "permanent error (550): <ada@example.org>: no\n such\u{1b}user");
        assert_eq!(error.why, "permanent error (550): <address> no such user");
    }
}

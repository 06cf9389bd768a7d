//! Tokens of a database dump in the language of MySQL and MariaDB: words, names, texts, numbers, signs.
//!
//! Reads as a stream: one token is in memory, and of a text no more than it may have. It knows no statement.

use crate::import::items::FileFault;
use memchr::{memchr, memchr_iter, memchr2};
use std::io::{self, BufRead};

pub(super) const HINT_CUT: &str = "the dump looks cut short or damaged: make it again";
const HINT_READ: &str = "check that the file is whole and can be read";
const HINT_LONG: &str = "this is no dump of a database: choose another file";

/// Bytes of the longest word, name or number.
const LONGEST_WORD: usize = 4096;

/// A token. Its characters are in [`DumpLexer::text`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DumpToken {
    /// A keyword, a name without marks, or a number.
    Word,
    /// A name in backticks.
    Name,
    /// A text in quotes.
    Text,
    /// Any other character.
    Sign(u8),
    End,
}

/// See the module.
pub(super) struct DumpLexer<R> {
    input: R,
    /// Where the reader is, counted from 1.
    pub line: u64,
    /// Bytes read so far.
    pub bytes: u64,
    /// Bytes of the longest text.
    most: usize,
    /// The characters of the latest token, escapes resolved. A text that is longer than may be is empty.
    pub text: Vec<u8>,
    /// The latest text is longer than may be.
    pub is_over: bool,
    /// Texts are read and not stored.
    pub skips: bool,
    /// See [`super::charset::DumpCharset::lead_bytes`].
    pub lead_bytes: Option<fn(u8) -> bool>,
    /// Inside a comment whose content is carried out.
    carries_out: bool,
    /// The last lines of comments say that the dump is whole, or are not there.
    pub end: DumpEnd,
}

/// The end of a dump, as comments tell of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum DumpEnd {
    /// The program that made it says nothing.
    #[default]
    Untold,
    /// It says so at the end, which was not reached.
    Awaited,
    Told,
}

impl<R: BufRead> DumpLexer<R> {
    pub(super) fn new(input: R, most: usize) -> DumpLexer<R> {
        DumpLexer {
            input,
            line: 1,
            bytes: 0,
            most,
            text: Vec::new(),
            is_over: false,
            skips: false,
            lead_bytes: None,
            carries_out: false,
            end: DumpEnd::Untold,
        }
    }

    pub(super) fn fault(&self, message: impl Into<String>, hint: &'static str) -> FileFault {
        FileFault { line: self.line, message: message.into(), hint }
    }

    /// The next token, comments left out.
    pub(super) fn token(&mut self) -> Result<DumpToken, FileFault> {
        loop {
            let Some(byte) = self.peek()? else { return Ok(DumpToken::End) };
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => self.take(),
                b'#' => self.comment_line()?,
                b'-' => {
                    self.take();
                    if self.peek()? != Some(b'-') {
                        return Ok(DumpToken::Sign(b'-'));
                    }
                    self.comment_line()?;
                }
                b'/' => {
                    self.take();
                    if self.peek()? != Some(b'*') {
                        return Ok(DumpToken::Sign(b'/'));
                    }
                    self.comment()?;
                }
                b'*' if self.carries_out => {
                    self.take();
                    if self.peek()? != Some(b'/') {
                        return Ok(DumpToken::Sign(b'*'));
                    }
                    self.take();
                    self.carries_out = false;
                }
                b'\'' | b'"' => {
                    self.take();
                    self.quoted(byte)?;
                    return Ok(DumpToken::Text);
                }
                b'`' => {
                    self.take();
                    self.quoted(byte)?;
                    return Ok(DumpToken::Name);
                }
                byte if is_word(byte) => {
                    self.word()?;
                    return Ok(DumpToken::Word);
                }
                sign => {
                    self.take();
                    return Ok(DumpToken::Sign(sign));
                }
            }
        }
    }

    /// Reads the rest of the line; false at the end of the dump.
    pub(super) fn rest_of_line(&mut self) -> Result<bool, FileFault> {
        self.text.clear();
        while let Some(byte) = self.peek()? {
            self.take();
            if byte == b'\n' {
                return Ok(true);
            }
            if self.text.len() < LONGEST_WORD {
                self.text.push(byte);
            }
        }
        Ok(false)
    }

    /// Whether the latest token is this word, in letters of any case.
    pub(super) fn is(&self, word: &str) -> bool {
        self.text.eq_ignore_ascii_case(word.as_bytes())
    }

    fn peek(&mut self) -> Result<Option<u8>, FileFault> {
        Ok(self.buffered()?.first().copied())
    }

    fn buffered(&mut self) -> Result<&[u8], FileFault> {
        loop {
            match self.input.fill_buf() {
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.unread(&error)),
            }
        }
        // The same bytes again: the compiler does not see that the first borrow has ended.
        self.input.fill_buf().map_err(|error| FileFault {
            line: self.line,
            message: error.to_string(),
            hint: HINT_READ,
        })
    }

    fn unread(&self, error: &io::Error) -> FileFault {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => self.fault("the packed file ends early", HINT_CUT),
            _ => self.fault(error.to_string(), HINT_READ),
        }
    }

    /// Goes behind the byte that was peeked.
    fn take(&mut self) {
        if let Ok([b'\n', ..]) = self.input.fill_buf() {
            self.line += 1;
        }
        self.advance(1);
    }

    fn advance(&mut self, count: usize) {
        self.input.consume(count);
        self.bytes += count as u64;
    }

    fn word(&mut self) -> Result<(), FileFault> {
        self.text.clear();
        self.is_over = false;
        loop {
            self.buffered()?;
            let Ok(buffered) = self.input.fill_buf() else { continue };
            let length = buffered.iter().position(|byte| !is_word(*byte)).unwrap_or(buffered.len());
            let ends = length < buffered.len() || buffered.is_empty();
            let is_bytes = self.text.iter().chain(buffered).take(2).eq(b"0x");
            // Bytes as digits are as long as a text twice.
            let most = if is_bytes && !self.skips { 2 * self.most + 2 } else { LONGEST_WORD };
            let room = most.saturating_sub(self.text.len()).min(length);
            self.text.extend_from_slice(&buffered[..room]);
            if room < length {
                self.is_over = true;
                if !is_bytes {
                    return Err(self.fault("a word has no end", HINT_LONG));
                }
            }
            self.advance(length);
            if ends {
                return Ok(());
            }
        }
    }

    /// A text or a name up to its quote. A quote that is doubled is one; names have no escapes.
    fn quoted(&mut self, quote: u8) -> Result<(), FileFault> {
        let begins = self.line;
        let cut = |what: &str| {
            let message = format!("the dump ends inside the {what} that begins in line {begins}");
            FileFault { line: begins, message, hint: HINT_CUT }
        };
        let what = if quote == b'`' { "name" } else { "text" };
        let leads = self.lead_bytes;
        self.text.clear();
        self.is_over = false;
        loop {
            let buffered = self.buffered()?;
            if buffered.is_empty() {
                return Err(cut(what));
            }
            let mark = match (quote, leads) {
                (b'`', _) => memchr(quote, buffered),
                (_, None) => memchr2(quote, b'\\', buffered),
                (_, Some(leads)) => buffered.iter().position(|byte| *byte == quote || *byte == b'\\' || leads(*byte)),
            };
            let plain = mark.unwrap_or(buffered.len());
            self.keep(plain)?;
            let Some(mark) = mark.and_then(|_| self.peek().transpose()) else { continue };
            self.take();
            let mark = mark?;
            if quote != b'`' && leads.is_some_and(|leads| leads(mark)) {
                let second = self.peek()?.ok_or_else(|| cut(what))?;
                self.take();
                self.push(mark);
                self.push(second);
            } else if mark == b'\\' {
                let escaped = self.peek()?.ok_or_else(|| cut(what))?;
                self.take();
                let (first, second) = unescaped(escaped);
                self.push(first);
                second.into_iter().for_each(|second| self.push(second));
            } else if self.peek()? == Some(quote) {
                self.take();
                self.push(quote);
            } else {
                return Ok(());
            }
        }
    }

    /// Takes bytes that are in memory into the text.
    fn keep(&mut self, count: usize) -> Result<(), FileFault> {
        let Ok(buffered) = self.input.fill_buf() else { return Ok(()) };
        let plain = &buffered[..count];
        self.line += memchr_iter(b'\n', plain).count() as u64;
        if self.text.len() + count > self.most {
            self.is_over = true;
            self.text = Vec::new();
        }
        if !self.skips && !self.is_over {
            self.text.extend_from_slice(plain);
        }
        self.advance(count);
        Ok(())
    }

    fn push(&mut self, byte: u8) {
        if !self.skips && !self.is_over {
            self.text.push(byte);
        }
    }

    fn comment_line(&mut self) -> Result<(), FileFault> {
        self.rest_of_line()?;
        let text = String::from_utf8_lossy(&self.text);
        // The first line of mysqldump and its kin, and the last one. Programs that write no comments write neither.
        if text.contains("MySQL dump ") || text.contains("MariaDB dump ") {
            self.end = DumpEnd::Awaited;
        } else if text.contains("Dump completed") {
            self.end = DumpEnd::Told;
        }
        Ok(())
    }

    /// A comment behind its slash. The content of one with a `!` is carried out; that of MariaDB alone never matters here.
    fn comment(&mut self) -> Result<(), FileFault> {
        let begins = self.line;
        self.take();
        if self.peek()? == Some(b'!') {
            self.take();
            while self.peek()?.is_some_and(|byte| byte.is_ascii_digit()) {
                self.take();
            }
            self.carries_out = true;
            return Ok(());
        }
        let mut before = 0;
        while let Some(byte) = self.peek()? {
            self.take();
            if (before, byte) == (b'*', b'/') {
                return Ok(());
            }
            before = byte;
        }
        let message = format!("the dump ends inside the comment that begins in line {begins}");
        Err(FileFault { line: begins, message, hint: HINT_CUT })
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'@' | b'.') || byte >= 0x80
}

/// The character behind a backslash as MySQL reads it; two, where the backslash stays.
fn unescaped(byte: u8) -> (u8, Option<u8>) {
    match byte {
        b'0' => (0, None),
        b'b' => (8, None),
        b'n' => (b'\n', None),
        b'r' => (b'\r', None),
        b't' => (b'\t', None),
        b'Z' => (26, None),
        b'%' | b'_' => (b'\\', Some(byte)),
        other => (other, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn tokens(text: &[u8], piece: usize, most: usize) -> Result<Vec<String>, FileFault> {
        let mut lexer = DumpLexer::new(BufReader::with_capacity(piece, text), most);
        let mut all = Vec::new();
        loop {
            let token = lexer.token()?;
            let text = String::from_utf8_lossy(&lexer.text).into_owned();
            all.push(match token {
                DumpToken::Word => text,
                DumpToken::Name => format!("`{text}`"),
                DumpToken::Text if lexer.is_over => "too long".to_owned(),
                DumpToken::Text => format!("'{text}'"),
                DumpToken::Sign(sign) => char::from(sign).to_string(),
                DumpToken::End => break,
            });
        }
        assert_eq!(lexer.bytes, text.len() as u64, "{all:?}");
        Ok(all)
    }

    #[test]
    fn tokens_of_a_dump() {
        let table: &[(&str, &[&str])] = &[
            ("", &[]),
            ("INSERT  into\n`a``b`(1,-2)", &["INSERT", "into", "`a`b`", "(", "1", ",", "-", "2", ")"]),
            ("'it''s' 'it\\'s' \"a\"\"b\\\"'\"", &["'it's'", "'it's'", "'a\"b\"''"]),
            ("'\\n\\r\\t\\\\\\Z\\b\\%\\_\\q'", &["'\n\r\t\\\u{1a}\u{8}\\%\\_q'"]),
            ("'a\\0b'", &["'a\0b'"]),
            ("`a\\`", &["`a\\`"]),
            ("-- a 'comment\n1 # another `\n2 /* a ' third; */3", &["1", "2", "3"]),
            ("/*!40101 SET NAMES utf8 */; /*!50003 a*/ *", &["SET", "NAMES", "utf8", ";", "a", "*"]),
            ("/*M!999999\\- enable the sandbox mode */ 1", &["1"]),
            ("0x4D79 1.5e10 _binary 'a' 5-3", &["0x4D79", "1.5e10", "_binary", "'a'", "5", "-", "3"]),
            ("a--b\nc / *", &["a", "c", "/", "*"]),
            ("'Grüße 🌊'", &["'Grüße 🌊'"]),
            ("'0123456789' '01234567890123456789x'", &["'0123456789'", "too long"]),
        ];
        for (text, expected) in table {
            for piece in [1, 2, 7, 4096] {
                let read = tokens(text.as_bytes(), piece, 20).expect("tokens");
                assert_eq!(read, *expected, "{text} in pieces of {piece}");
            }
        }
    }

    #[test]
    fn an_end_inside_something_is_told_with_its_beginning() {
        for (text, expected) in [
            ("a\n'text\n", "line 2: the dump ends inside the text that begins in line 2"),
            ("a\n'text\\", "line 2: the dump ends inside the text"),
            ("`name", "line 1: the dump ends inside the name"),
            ("\n\n/* comment *", "line 3: the dump ends inside the comment"),
        ] {
            let fault = tokens(text.as_bytes(), 3, 100).expect_err(text).to_string();
            assert!(fault.starts_with(expected), "{fault}");
        }
        let word = "x".repeat(LONGEST_WORD + 2000);
        let fault = tokens(word.as_bytes(), 1000, 100).expect_err("a word without an end").to_string();
        assert!(fault.contains("no dump"), "{fault}");
    }

    #[test]
    fn the_end_is_awaited_where_it_is_told() {
        for (text, expected) in [
            ("select 1;", DumpEnd::Untold),
            ("-- MySQL dump 10.13\nselect 1;", DumpEnd::Awaited),
            ("-- MariaDB dump 10.19\n1;\n-- Dump completed on 2026-01-02", DumpEnd::Told),
        ] {
            let mut lexer = DumpLexer::new(text.as_bytes(), 100);
            while lexer.token().expect("a token") != DumpToken::End {}
            assert_eq!(lexer.end, expected, "{text}");
        }
    }
}

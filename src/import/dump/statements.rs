//! Statements of a database dump: the tables that it makes, and their rows. All others are passed over.

use super::lexer::{DumpEnd, DumpLexer, DumpToken, HINT_CUT};
use crate::import::items::FileFault;
use cms_text::hex;
use std::io::BufRead;

const HINT_VALUES: &str = "make the dump with mysqldump or mariadb-dump, or export it as SQL in phpMyAdmin";

/// Values of a row, and columns of a table, at most: MySQL itself has no more columns.
const MOST_COLUMNS: usize = 4096;

/// A statement that matters.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DumpStatement {
    Table {
        name: String,
        columns: Vec<String>,
    },
    /// Rows, with the columns that the statement names; [`DumpReader::row`] reads them, [`DumpReader::skip_rows`] does not.
    Rows {
        table: String,
        columns: Option<Vec<String>>,
    },
    /// The character set of all texts that follow.
    Charset(String),
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DumpValue {
    Null,
    /// A text in the character set of the dump, or a number.
    Text(Vec<u8>),
    /// Bytes, which have the character set of their column.
    Bytes(Vec<u8>),
    /// It is longer than a value, or its row longer than a row may be.
    Over,
}

/// See the module.
pub(super) struct DumpReader<R> {
    pub lexer: DumpLexer<R>,
    /// Where the latest row begins.
    pub row_line: u64,
    /// Bytes of the longest row.
    most: usize,
}

impl<R: BufRead> DumpReader<R> {
    /// `value` and `row` are the bytes that they may have.
    pub(super) fn new(input: R, value: usize, row: usize) -> DumpReader<R> {
        DumpReader { lexer: DumpLexer::new(input, value), row_line: 1, most: row }
    }

    /// The next statement that matters; nothing at the end.
    pub(super) fn statement(&mut self) -> Result<Option<DumpStatement>, FileFault> {
        loop {
            let found = match self.lexer.token()? {
                DumpToken::End if self.lexer.end == DumpEnd::Awaited => {
                    return Err(self.lexer.fault("the dump has no end (`-- Dump completed`)", HINT_CUT));
                }
                DumpToken::End => return Ok(None),
                DumpToken::Sign(b';') => continue,
                DumpToken::Word if self.lexer.is("CREATE") => self.table()?,
                DumpToken::Word if self.lexer.is("INSERT") || self.lexer.is("REPLACE") => self.rows()?,
                DumpToken::Word if self.lexer.is("SET") => self.set()?,
                DumpToken::Word if self.lexer.is("DELIMITER") => self.routines()?,
                _ => self.skip_statement()?,
            };
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    /// Goes behind the statement.
    fn skip_statement(&mut self) -> Result<Option<DumpStatement>, FileFault> {
        self.lexer.skips = true;
        let done = loop {
            match self.lexer.token() {
                Ok(DumpToken::Sign(b';') | DumpToken::End) => break Ok(None),
                Ok(_) => {}
                Err(fault) => break Err(fault),
            }
        };
        self.lexer.skips = false;
        done
    }

    /// Routines and triggers, which have semicolons inside, up to the line that makes the semicolon end statements again.
    fn routines(&mut self) -> Result<Option<DumpStatement>, FileFault> {
        loop {
            let line = self.lexer.rest_of_line()?;
            let text = self.lexer.text.trim_ascii();
            let end = text.strip_prefix(b"DELIMITER").unwrap_or(text).trim_ascii();
            if !line || end == b";" {
                return Ok(None);
            }
        }
    }

    fn set(&mut self) -> Result<Option<DumpStatement>, FileFault> {
        let mut charset = None;
        match self.lexer.token()? {
            DumpToken::Sign(b';') => return Ok(None),
            DumpToken::Word if self.lexer.is("NAMES") => {
                self.lexer.token()?;
                charset = Some(self.text().to_ascii_lowercase());
            }
            _ => {}
        }
        self.skip_statement()?;
        Ok(charset.map(DumpStatement::Charset))
    }

    fn table(&mut self) -> Result<Option<DumpStatement>, FileFault> {
        if self.lexer.token()? != DumpToken::Word || !self.lexer.is("TABLE") {
            return self.skip_statement();
        }
        let mut token = self.lexer.token()?;
        while token == DumpToken::Word && ["IF", "NOT", "EXISTS"].iter().any(|word| self.lexer.is(word)) {
            token = self.lexer.token()?;
        }
        let (name, next) = self.name(token)?;
        if next != DumpToken::Sign(b'(') {
            return self.skip_statement();
        }
        const NO_COLUMNS: [&str; 9] =
            ["PRIMARY", "UNIQUE", "KEY", "INDEX", "FULLTEXT", "SPATIAL", "CONSTRAINT", "FOREIGN", "CHECK"];
        let (mut columns, mut depth, mut begins) = (Vec::new(), 1, true);
        while depth > 0 {
            let token = self.lexer.token()?;
            let is_name = matches!(token, DumpToken::Name | DumpToken::Text)
                || token == DumpToken::Word && !NO_COLUMNS.iter().any(|word| self.lexer.is(word));
            if begins && is_name {
                self.columns_fit(columns.len())?;
                columns.push(self.text());
            }
            begins = token == DumpToken::Sign(b',') && depth == 1;
            match token {
                DumpToken::Sign(b'(') => depth += 1,
                DumpToken::Sign(b')') => depth -= 1,
                DumpToken::End => return Err(self.cut()),
                _ => {}
            }
        }
        self.skip_statement()?;
        Ok(Some(DumpStatement::Table { name, columns }))
    }

    /// The statement up to its first row.
    fn rows(&mut self) -> Result<Option<DumpStatement>, FileFault> {
        const BEFORE: [&str; 5] = ["LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "IGNORE", "INTO"];
        let mut token = self.lexer.token()?;
        while token == DumpToken::Word && BEFORE.iter().any(|word| self.lexer.is(word)) {
            token = self.lexer.token()?;
        }
        let (table, mut next) = self.name(token)?;
        let mut columns = None;
        if next == DumpToken::Sign(b'(') {
            let mut named = Vec::new();
            loop {
                match self.lexer.token()? {
                    DumpToken::Name | DumpToken::Text | DumpToken::Word => {
                        self.columns_fit(named.len())?;
                        named.push(self.text());
                    }
                    DumpToken::Sign(b',') => {}
                    DumpToken::Sign(b')') => break,
                    DumpToken::End => return Err(self.cut()),
                    DumpToken::Sign(_) => return Err(self.unread_value()),
                }
            }
            columns = Some(named);
            next = self.lexer.token()?;
        }
        match next {
            DumpToken::Word if self.lexer.is("VALUES") || self.lexer.is("VALUE") => {
                Ok(Some(DumpStatement::Rows { table, columns }))
            }
            DumpToken::End => Err(self.cut()),
            _ => Err(self.lexer.fault(format!("rows of {table} are not written as values"), HINT_VALUES)),
        }
    }

    /// The name that begins with a token, without that of a database before it, and the token behind it.
    fn name(&mut self, first: DumpToken) -> Result<(String, DumpToken), FileFault> {
        let mut token = first;
        let mut name = String::new();
        loop {
            match token {
                DumpToken::Name | DumpToken::Text => name = self.text(),
                DumpToken::Word if name.is_empty() || self.lexer.text.first() == Some(&b'.') => {
                    let text = self.text();
                    let own = text.rsplit('.').next().unwrap_or_default();
                    if !own.is_empty() {
                        own.clone_into(&mut name);
                    }
                }
                DumpToken::End => return Err(self.cut()),
                next => return Ok((name, next)),
            }
            token = self.lexer.token()?;
        }
    }

    /// Reads the next row of a statement; false: it has no more.
    pub(super) fn row(&mut self, values: &mut Vec<DumpValue>) -> Result<bool, FileFault> {
        values.clear();
        loop {
            match self.lexer.token()? {
                DumpToken::Sign(b'(') => break,
                DumpToken::Sign(b',') => {}
                DumpToken::Sign(b';') => return Ok(false),
                DumpToken::End => return Err(self.cut()),
                // ON DUPLICATE KEY UPDATE …
                DumpToken::Word if self.lexer.is("ON") => {
                    self.skip_statement()?;
                    return Ok(false);
                }
                _ => return Err(self.unread_value()),
            }
        }
        self.row_line = self.lexer.line;
        let mut bytes = 0_usize;
        loop {
            self.columns_fit(values.len())?;
            let value = self.value()?;
            if let DumpValue::Text(text) | DumpValue::Bytes(text) = &value {
                bytes = bytes.saturating_add(text.len());
            }
            values.push(if bytes > self.most { DumpValue::Over } else { value });
            match self.lexer.token()? {
                DumpToken::Sign(b',') => {}
                DumpToken::Sign(b')') => return Ok(true),
                DumpToken::End => return Err(self.cut()),
                _ => return Err(self.unread_value()),
            }
        }
    }

    /// Counts the rows that a statement still has, and goes behind it.
    pub(super) fn skip_rows(&mut self) -> Result<u64, FileFault> {
        self.lexer.skips = true;
        let (mut rows, mut depth) = (0, 0_u32);
        let done = loop {
            match self.lexer.token() {
                Ok(DumpToken::Sign(b'(')) => {
                    rows += u64::from(depth == 0);
                    depth += 1;
                }
                Ok(DumpToken::Sign(b')')) => depth = depth.saturating_sub(1),
                Ok(DumpToken::Sign(b';')) if depth == 0 => break Ok(rows),
                Ok(DumpToken::End) => break Err(self.cut()),
                Ok(_) => {}
                Err(fault) => break Err(fault),
            }
        };
        self.lexer.skips = false;
        done
    }

    fn value(&mut self) -> Result<DumpValue, FileFault> {
        match self.lexer.token()? {
            DumpToken::Text => Ok(self.taken(DumpValue::Text)),
            DumpToken::Sign(sign @ (b'-' | b'+')) => {
                if self.lexer.token()? != DumpToken::Word || !self.is_number() {
                    return Err(self.unread_value());
                }
                let mut number = if sign == b'-' { vec![sign] } else { Vec::new() };
                number.append(&mut self.lexer.text);
                Ok(DumpValue::Text(number))
            }
            DumpToken::Word if self.lexer.is("NULL") || self.lexer.is("DEFAULT") => Ok(DumpValue::Null),
            DumpToken::Word if self.lexer.is("TRUE") => Ok(DumpValue::Text(b"1".to_vec())),
            DumpToken::Word if self.lexer.is("FALSE") => Ok(DumpValue::Text(b"0".to_vec())),
            DumpToken::Word if self.lexer.text.starts_with(b"0x") => self.bytes(2),
            DumpToken::Word if self.is_number() => Ok(self.taken(DumpValue::Text)),
            DumpToken::Word if self.lexer.is("x") => match self.lexer.token()? {
                DumpToken::Text => self.bytes(0),
                _ => Err(self.unread_value()),
            },
            DumpToken::Word if self.lexer.text.first() == Some(&b'_') || self.lexer.is("n") => {
                let is_binary = self.lexer.is("_binary");
                match self.lexer.token()? {
                    DumpToken::Text if is_binary => Ok(self.taken(DumpValue::Bytes)),
                    DumpToken::Text => Ok(self.taken(DumpValue::Text)),
                    DumpToken::Word if self.lexer.text.starts_with(b"0x") => self.bytes(2),
                    _ => Err(self.unread_value()),
                }
            }
            DumpToken::End => Err(self.cut()),
            _ => Err(self.unread_value()),
        }
    }

    /// The latest text as a value.
    fn taken(&mut self, value: fn(Vec<u8>) -> DumpValue) -> DumpValue {
        if self.lexer.is_over { DumpValue::Over } else { value(std::mem::take(&mut self.lexer.text)) }
    }

    /// The bytes whose digits follow the first characters of the latest token.
    fn bytes(&mut self, from: usize) -> Result<DumpValue, FileFault> {
        if self.lexer.is_over {
            return Ok(DumpValue::Over);
        }
        hex::bytes(&self.lexer.text[from..]).map(DumpValue::Bytes).ok_or_else(|| self.unread_value())
    }

    fn is_number(&self) -> bool {
        self.lexer.text.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.')
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.lexer.text).into_owned()
    }

    fn columns_fit(&self, count: usize) -> Result<(), FileFault> {
        match count < MOST_COLUMNS {
            true => Ok(()),
            false => Err(self.lexer.fault(format!("a row has more than {MOST_COLUMNS} values"), HINT_VALUES)),
        }
    }

    fn cut(&self) -> FileFault {
        self.lexer.fault("the dump ends inside a statement", HINT_CUT)
    }

    fn unread_value(&self) -> FileFault {
        let text: String = self.text().chars().take(40).collect();
        self.lexer.fault(format!("behind `{text}` there is something that is no value"), HINT_VALUES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything that a dump holds, in words.
    fn read(text: &str) -> Result<Vec<String>, FileFault> {
        let mut reader = DumpReader::new(text.as_bytes(), 20, 40);
        let (mut all, mut values) = (Vec::new(), Vec::new());
        while let Some(statement) = reader.statement()? {
            match statement {
                DumpStatement::Table { name, columns } => all.push(format!("{name}({})", columns.join(" "))),
                DumpStatement::Charset(name) => all.push(name),
                DumpStatement::Rows { table, .. } if table.starts_with("skipped") => {
                    all.push(format!("{} of {table}", reader.skip_rows()?));
                }
                DumpStatement::Rows { table, columns } => {
                    all.push(format!("{table}({})", columns.unwrap_or_default().join(" ")));
                    while reader.row(&mut values)? {
                        let shown = |value: &DumpValue| match value {
                            DumpValue::Null => "-".to_owned(),
                            DumpValue::Over => "over".to_owned(),
                            DumpValue::Text(text) => String::from_utf8_lossy(text).into_owned(),
                            DumpValue::Bytes(text) => format!("b:{}", String::from_utf8_lossy(text)),
                        };
                        all.push(values.iter().map(shown).collect::<Vec<_>>().join("|"));
                    }
                }
            }
        }
        Ok(all)
    }

    #[test]
    fn statements_of_dumps() {
        let table: &[(&str, &[&str])] = &[
            ("", &[]),
            ("DROP TABLE IF EXISTS `a`; LOCK TABLES `a` WRITE; COMMIT", &[]),
            (
                "/*!40101 SET NAMES utf8mb4 */;/*!40103 SET TIME_ZONE='+00:00' */;SET NAMES 'Latin1';",
                &["utf8mb4", "latin1"],
            ),
            (
                "CREATE TABLE IF NOT EXISTS `p_a` (\n `ID` bigint(20) unsigned NOT NULL DEFAULT '0',\n name varchar(3),\n \
                 `key` enum('a','b,)') COMMENT 'x, `y` (',\n PRIMARY KEY (`ID`),\n KEY `n` (`name`(19),`key`),\n CONSTRAINT c \
                 CHECK (json_valid(`x`))\n) ENGINE=InnoDB;",
                &["p_a(ID name key)"],
            ),
            ("CREATE TABLE `db`.`a` (\"b\" int); CREATE TABLE db.c (d int);", &["a(b)", "c(d)"]),
            ("CREATE TABLE a LIKE b; CREATE DATABASE `x`; CREATE ALGORITHM=MERGE VIEW v AS SELECT 1;", &[]),
            (
                "INSERT INTO `a` VALUES (1,'x',NULL),(-2,'it''s; (ok)',TRUE);\nINSERT INTO a (`b`, c) VALUES\n(1, 2.5)\n;",
                &["a()", "1|x|-", "-2|it's; (ok)|1", "a(b c)", "1|2.5"],
            ),
            (
                "INSERT IGNORE INTO `a` VALUES (0x4D79,_binary 'q\\0',x'4d',_utf8mb4'u',N'n',0x);",
                &["a()", "b:My|b:q\0|b:M|u|n|b:"],
            ),
            (
                "REPLACE INTO `d`.`a` VALUES (1) ON DUPLICATE KEY UPDATE `a`=VALUES(`a`); INSERT a VALUE (2);",
                &["a()", "1", "a()", "2"],
            ),
            ("INSERT INTO skipped VALUES (1,'(',f(2,(3))),(2),\n(3);INSERT INTO a VALUES ('x')", &["3 of skipped"]),
            (
                "DELIMITER ;;\nCREATE TRIGGER t BEFORE INSERT ON a FOR EACH ROW BEGIN INSERT INTO b VALUES (1); END;;\nDELIMITER ;\nSET NAMES x;",
                &["x"],
            ),
            (
                "INSERT INTO a VALUES ('012345678901234567890',1),('01234567890123456789','01234567890123456789','0'),(0x0123456789012345678901234567890123456789012);",
                &["a()", "over|1", "01234567890123456789|01234567890123456789|over", "over"],
            ),
        ];
        for (text, expected) in table {
            match read(text) {
                Ok(all) => assert_eq!(all, *expected, "{text}"),
                Err(fault) => {
                    assert!(text.ends_with("('x')"), "{text}: {fault}");
                    assert!(fault.message.contains("ends inside a statement"), "{fault}");
                }
            }
        }
    }

    #[test]
    fn values_that_are_none_are_told_with_their_line() {
        for (text, expected) in [
            ("\nINSERT INTO a VALUES (1,\nCONVERT('x' USING utf8));", "line 3: behind `CONVERT`"),
            ("INSERT INTO a VALUES (0x4);", "line 1: behind `0x4`"),
            ("INSERT INTO a SELECT 1;", "line 1: rows of a are not written as values"),
            ("INSERT INTO a VALUES (1),(2", "line 1: the dump ends inside a statement"),
            ("-- MySQL dump 10\nINSERT INTO a VALUES (1);\n", "line 3: the dump has no end"),
        ] {
            let fault = read(text).expect_err(text).to_string();
            assert!(fault.starts_with(expected), "{fault}");
        }
    }

    #[test]
    fn no_beginning_of_a_dump_passes_for_it() {
        let whole = "-- MySQL dump 10.13\nSET NAMES utf8mb4;\nCREATE TABLE `a` (`b` int, `c` text);\nINSERT INTO `a` VALUES \
                     (1,'one; (\\'two\\')'),(2,0x4D);\n-- Dump completed\n";
        assert_eq!(read(whole).expect("statements").len(), 5);
        for end in 1..whole.len() - "completed\n".len() {
            assert!(read(&whole[..end]).is_err() || end < "-- MySQL dump ".len(), "the first {end} bytes");
        }
    }
}

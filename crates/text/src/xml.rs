//! Texts in documents of XML.

/// A text without the characters that XML does not have, not even as references.
pub fn writable(text: &str) -> String {
    text.chars()
        .filter(
            |char| !matches!(char, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}'),
        )
        .collect()
}

/// A CDATA section with a text. Where the text has the mark that would end it, one section ends and another begins.
pub fn cdata(text: &str) -> String {
    format!("<![CDATA[{}]]>", writable(text).replace("]]>", "]]]]><![CDATA[>"))
}

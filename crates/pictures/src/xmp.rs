//! XMP that an editor writes into a picture: the alternative text is read, the rest is skipped.

use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};

/// The property that holds the text, by language, whatever prefix its namespace has.
const PROPERTY: &str = "AltTextAccessibility";

/// Languages of one text that are read.
const MOST_LANGUAGES: usize = 200;

/// Bytes of one text that are read.
const MOST_TEXT: usize = 64 << 10;

/// The language of a text that suits every reader.
const ANY_LANGUAGE: &str = "x-default";

/// The alternative text in a language (`en_US`), in that language without its country, or the one for every language.
pub fn alternative_text(xmp: &[u8], language: &str) -> Option<String> {
    let texts = texts(xmp);
    let wanted = [language, language.split(['_', '-']).next().unwrap_or(language), ANY_LANGUAGE];
    let mut found = wanted.iter().filter_map(|wanted| texts.iter().find(|(own, _)| own == wanted));
    found.next().map(|(_, text)| text.clone())
}

/// The texts of the property with their languages, as far as the document can be read.
fn texts(xmp: &[u8]) -> Vec<(String, String)> {
    let mut reader = Reader::from_reader(xmp);
    let mut texts: Vec<(String, String)> = Vec::new();
    let (mut inside, mut open) = (false, false);
    loop {
        let Ok(event) = reader.read_event() else { return texts };
        match event {
            Event::Start(tag) if tag.local_name().as_ref() == PROPERTY => inside = true,
            Event::End(tag) if tag.local_name().as_ref() == PROPERTY => (inside, open) = (false, false),
            Event::Start(tag) if inside && tag.local_name().as_ref() == "li" => {
                if texts.len() >= MOST_LANGUAGES {
                    return texts;
                }
                texts.push((language(&tag), String::new()));
                open = true;
            }
            Event::End(tag) if tag.local_name().as_ref() == "li" => open = false,
            Event::Text(part) if open => add(&mut texts, &part.xml10_content()),
            Event::CData(part) if open => add(&mut texts, &part.xml10_content()),
            Event::GeneralRef(name) if open => match name.resolve_char_ref() {
                Ok(Some(char)) => add(&mut texts, char.encode_utf8(&mut [0; 4])),
                _ => add(&mut texts, resolve_xml_entity(&name).unwrap_or_default()),
            },
            Event::Eof => return texts,
            _ => {}
        }
    }
}

fn add(texts: &mut [(String, String)], part: &str) {
    if let Some((_, text)) = texts.last_mut()
        && text.len() + part.len() <= MOST_TEXT
    {
        text.push_str(part);
    }
}

/// `xml:lang`; without it, the text suits every reader.
fn language(tag: &BytesStart<'_>) -> String {
    // To look for two of one name would compare each with all others.
    let own = tag.attributes().with_checks(false).flatten().find(|attribute| attribute.key.as_ref() == "xml:lang");
    own.map_or_else(|| ANY_LANGUAGE.to_owned(), |own| own.value.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn described(texts: &[(&str, &str)]) -> Vec<u8> {
        let list: String = texts.iter().map(|(l, t)| format!("<rdf:li xml:lang=\"{l}\">{t}</rdf:li>")).collect();
        format!(
            "<?xpacket begin=''?><x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF><rdf:Description>\
             <dc:title><rdf:Alt><rdf:li xml:lang='x-default'>A title</rdf:li></rdf:Alt></dc:title>\
             <Iptc4xmpCore:AltTextAccessibility><rdf:Alt>{list}</rdf:Alt></Iptc4xmpCore:AltTextAccessibility>\
             </rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end='w'?>"
        )
        .into_bytes()
    }

    #[test]
    fn the_text_of_the_language_comes_first() {
        let check = |texts: &[(&str, &str)], language: &str, expected: Option<&str>| {
            assert_eq!(alternative_text(&described(texts), language).as_deref(), expected, "{texts:?} {language}");
        };
        let all = [("x-default", "any"), ("nb", "norsk"), ("nb_NO", "bokmål"), ("en", "English")];
        check(&all, "nb_NO", Some("bokmål"));
        check(&all[..2], "nb_NO", Some("norsk"));
        check(&all, "en_US", Some("English"));
        check(&all, "fr_FR", Some("any"));
        check(&[("en-US", "another spelling"), ("x-default", "any")], "en_US", Some("any"));
        check(&[("fr", "français")], "en_US", None);
        check(&[("en", "a &amp; b &#60;c&gt; &nothing;")], "en", Some("a & b <c> "));
        check(&[], "en", None);
        // However many attributes there are, each is read once.
        let many: String = (0..200_000).map(|n| format!(" a{n}='x'")).collect();
        let crowded = described(&[("en", "a text")]);
        let crowded = String::from_utf8_lossy(&crowded)
            .replace("<rdf:li xml:lang=\"en\"", &format!("<rdf:li{many} xml:lang=\"en\""));
        assert_eq!(alternative_text(crowded.as_bytes(), "en").as_deref(), Some("a text"));
        assert_eq!(alternative_text(b"no XML", "en"), None);
    }

    proptest! {
        #[test]
        fn nothing_panics(changes in prop::collection::vec((0usize..500, any::<u8>()), 0..12)) {
            let mut bytes = described(&[("en", "a &amp; b")]);
            for (at, byte) in changes {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            let _ = alternative_text(&bytes, "en");
        }
    }
}

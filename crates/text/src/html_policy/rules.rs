//! The lists of what is allowed to whom: elements, attributes, schemes, style properties.

use super::super::sanitize::{SCHEMES, allowed_scheme};
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// The allowed markup, as it is declared.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// Names of elements and of their own attributes, each list separated by blanks.
    pub elements: &'a [(&'a str, &'a str)],
    /// Attributes of every element.
    pub attributes: &'a str,
    /// Whether `data-…` attributes are allowed everywhere.
    pub data_attributes: bool,
    /// Schemes of addresses; addresses without a scheme are always allowed.
    pub schemes: &'a [&'a str],
    /// Properties that a `style` attribute may set.
    pub style_properties: &'a str,
}

/// [`Rules`] made ready for use.
#[derive(Clone, Debug)]
pub struct Policy {
    pub(super) elements: HashMap<String, HashSet<String>>,
    data_attributes: bool,
    pub(super) schemes: Vec<String>,
    pub(super) style_properties: HashSet<String>,
    /// Of the classes of an element only those of mentions are allowed.
    pub(super) mentions_only: bool,
}

impl Policy {
    /// Makes rules ready for use.
    pub fn new(rules: &Rules) -> Policy {
        let mut elements: HashMap<String, HashSet<String>> = HashMap::new();
        for (names, own) in rules.elements {
            let attributes = own.split_whitespace().chain(rules.attributes.split_whitespace());
            let attributes: HashSet<String> = attributes.map(str::to_ascii_lowercase).collect();
            for name in names.split_whitespace() {
                elements.entry(name.to_ascii_lowercase()).or_default().extend(attributes.iter().cloned());
            }
        }
        Policy {
            elements,
            data_attributes: rules.data_attributes,
            schemes: rules.schemes.iter().map(|s| (*s).to_owned()).collect(),
            style_properties: rules.style_properties.split_whitespace().map(str::to_owned).collect(),
            mentions_only: false,
        }
    }

    /// Contents and excerpts.
    pub fn posts() -> &'static Policy {
        static POSTS: LazyLock<Policy> = LazyLock::new(|| Policy::new(&POST_RULES));
        &POSTS
    }

    /// Titles, descriptions of terms: phrases.
    pub fn phrases() -> &'static Policy {
        static PHRASES: LazyLock<Policy> = LazyLock::new(|| {
            Policy::new(&Rules { elements: &PHRASE_ELEMENTS, attributes: "", data_attributes: false, ..POST_RULES })
        });
        &PHRASES
    }

    /// Comments: phrases, and mentions of users.
    pub fn comments() -> &'static Policy {
        static COMMENTS: LazyLock<Policy> = LazyLock::new(|| {
            let mut elements = PHRASE_ELEMENTS.to_vec();
            elements.push(("span", "class"));
            let rules = Rules { elements: &elements, attributes: "", data_attributes: false, ..POST_RULES };
            Policy { mentions_only: true, ..Policy::new(&rules) }
        });
        &COMMENTS
    }

    /// Biographies: phrases whose links may have a `rel`.
    pub fn biographies() -> &'static Policy {
        static BIOGRAPHIES: LazyLock<Policy> = LazyLock::new(|| {
            let mut elements = PHRASE_ELEMENTS.to_vec();
            elements.push(("a", "rel"));
            Policy::new(&Rules { elements: &elements, attributes: "", data_attributes: false, ..POST_RULES })
        });
        &BIOGRAPHIES
    }

    /// Drawings: shapes of SVG without scripts, styles and references.
    pub fn drawings() -> &'static Policy {
        static DRAWINGS: LazyLock<Policy> = LazyLock::new(|| {
            let elements = [
                ("svg", "class xmlns width height viewbox aria-hidden role focusable"),
                ("path", "fill fill-rule d transform"),
                ("polygon", "fill fill-rule points transform focusable"),
            ];
            let rules = Rules { elements: &elements, attributes: "", data_attributes: false, ..POST_RULES };
            Policy::new(&rules)
        });
        &DRAWINGS
    }

    /// Whether what a browser reads in sanitised markup is within the policy: an element with an attribute of this value,
    /// or, without an attribute's name, the element itself. Names in lower case, references in the value resolved.
    pub fn permits(&self, element: &str, attribute: &str, value: &str) -> bool {
        if attribute.is_empty() {
            return self.elements.contains_key(element);
        }
        let schemes: Vec<&str> = self.schemes.iter().map(String::as_str).collect();
        let address = ADDRESSES.contains(&attribute);
        self.allows(element, attribute) && (!address || allowed_scheme(value, &schemes))
    }

    pub(super) fn allows(&self, element: &str, attribute: &str) -> bool {
        let data = || {
            attribute.strip_prefix("data-").is_some_and(|rest| {
                !rest.is_empty()
                    && rest.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b':' | b'.'))
            })
        };
        self.elements.get(element).is_some_and(|own| own.contains(attribute)) || self.data_attributes && data()
    }
}

/// Attributes whose value is an address.
pub(super) const ADDRESSES: [&str; 12] = [
    "action",
    "background",
    "cite",
    "classid",
    "codebase",
    "data",
    "formaction",
    "href",
    "longdesc",
    "poster",
    "src",
    "usemap",
];

const PHRASE_ELEMENTS: [(&str, &str); 5] = [
    ("a", "href title"),
    ("abbr acronym", "title"),
    ("b code em i s strike strong cite", ""),
    ("blockquote q", "cite"),
    ("del", "datetime"),
];

/// The markup that authors may use, observed on the reference.
const POST_RULES: Rules = Rules {
    elements: &[
        (
            "address abbr acronym b bdo big br cite code dd dfn dl dt em fieldset i kbd mark rb rp rt rtc ruby s samp \
             search wbr",
            "",
        ),
        ("small strike strong sub sup title tt u var", ""),
        (
            "article aside caption div figcaption figure footer h1 h2 h3 h4 h5 h6 header hgroup legend main nav p section",
            "align",
        ),
        ("span summary", "align"),
        ("a", "href name rel rev target download"),
        ("area", "alt coords href nohref shape target"),
        ("audio", "autoplay controls loop muted preload src"),
        ("blockquote q", "cite"),
        ("button", "aria-haspopup command commandfor disabled name popovertarget popovertargetaction type value"),
        ("col colgroup", "align char charoff span valign width"),
        ("data", "value"),
        ("del time", "datetime"),
        ("details", "align name open"),
        ("dialog", "autofocus closedby open popover"),
        ("div ul", "popover"),
        ("font", "color face size"),
        ("hr", "align noshade size width"),
        ("img", "align alt border height hspace loading longdesc src usemap vspace width"),
        ("ins", "cite datetime"),
        ("label", "for"),
        ("li", "align value"),
        ("map", "name"),
        ("menu ul", "type"),
        ("meter", "high low max min optimum value"),
        ("ol", "reversed start type"),
        ("pre", "width"),
        ("progress", "max value"),
        ("table", "align bgcolor border cellpadding cellspacing rules summary width"),
        ("tbody tfoot thead", "align char charoff valign"),
        ("td th", "abbr align axis bgcolor char charoff colspan headers height nowrap rowspan scope valign width"),
        ("textarea", "cols disabled name readonly rows"),
        ("tr", "align bgcolor char charoff valign"),
        ("track", "default kind label src srclang"),
        ("video", "autoplay controls height loop muted playsinline poster preload src width"),
    ],
    attributes: "aria-controls aria-current aria-describedby aria-details aria-expanded aria-hidden aria-label \
                 aria-labelledby aria-live class dir hidden id lang role style tabindex title xml:lang",
    data_attributes: true,
    schemes: &SCHEMES,
    style_properties: "align-content align-items align-self aspect-ratio background background-attachment background-blend-mode \
        background-color background-image background-position background-repeat background-size border border-bottom border-bottom-color \
        border-bottom-left-radius border-bottom-right-radius border-bottom-style border-bottom-width border-collapse \
        border-color border-left border-left-color border-left-style border-left-width border-radius border-right \
        border-right-color border-right-style border-right-width border-spacing border-style border-top \
        border-top-color border-top-left-radius border-top-right-radius border-top-style border-top-width border-width \
        bottom box-shadow caption-side clear clip-path clip-rule color column-count column-fill column-gap column-rule column-span column-width columns \
        container-type cursor direction display fill fill-opacity fill-rule filter flex flex-basis flex-direction flex-flow flex-grow flex-shrink flex-wrap float font \
        font-family font-size font-style font-variant font-weight gap grid-auto-columns grid-auto-rows grid-column grid-column-end \
        grid-column-gap grid-column-start grid-gap grid-row grid-row-end grid-row-gap grid-row-start grid-template-columns \
        grid-template-rows height justify-content justify-items justify-self left letter-spacing line-height \
        list-style-type margin margin-block-end margin-block-start margin-bottom margin-inline-end margin-inline-start \
        margin-left margin-right margin-top mask mask-clip mask-composite mask-image mask-mode mask-origin mask-position \
        mask-repeat mask-size mask-type max-height max-width min-height min-width object-fit object-position \
        overflow padding padding-block-end padding-block-start padding-bottom padding-inline-end padding-inline-start \
        padding-left padding-right padding-top pointer-events position right row-gap stroke stroke-dasharray \
        stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity stroke-width text-align text-decoration text-indent text-transform \
        top transform transform-box transform-origin transform-style vector-effect vertical-align visibility white-space \
        width writing-mode z-index",
};

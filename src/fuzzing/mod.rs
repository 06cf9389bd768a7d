//! Promises of every parser of foreign bytes, as functions over bytes. For tests alone: nothing that serves uses them.
//!
//! `tests/fuzz.rs` runs each target over the files of `fuzz/corpus` and over generated inputs, and measures what it costs;
//! the workspace in `fuzz/` drives the same functions guided by coverage. A target panics where a promise is broken.
//! Invalid input is no fault: it is what most inputs are.

mod declared;
mod edge;
mod markup;
mod pictures;
mod texts;
mod values;
mod xml;

/// Lists what of a text, read as a browser reads it, is not allowed: a line for each element and attribute that the
/// function refuses (element, attribute, value; an empty attribute means the element) or that could run a script. The
/// parser of HTML is a dependency of tests only, so the caller supplies it: `tests/common/html.rs`.
pub type HtmlAuditor = fn(&str, &dyn Fn(&str, &str, &str) -> bool) -> Vec<String>;

/// A parser and its promises.
pub struct FuzzTarget {
    /// Also the name of its folder below `fuzz/corpus`.
    pub name: &'static str,
    /// The property of every input, besides the absence of panics and the limits of [`Cost`].
    pub promise: &'static str,
    pub run: fn(&[u8], HtmlAuditor),
    /// Name of the file in `fuzz/dictionaries` with the words of its language.
    pub words: &'static str,
    pub cost: Cost,
}

/// The cost that an input may have.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Bytes of memory in use at the same time, for each byte of input.
    pub memory: usize,
    /// Bytes of memory that any input may take.
    pub memory_fixed: usize,
    /// Nanoseconds of CPU time for each byte of input, in a build without optimisation.
    pub nanoseconds: u64,
    /// Milliseconds of CPU time that any input may take, in such a build.
    pub milliseconds_fixed: u64,
}

impl Cost {
    /// Most bytes of memory for an input of this length.
    pub fn memory_for(&self, length: usize) -> usize {
        self.memory_fixed + self.memory * length
    }

    /// Most nanoseconds for an input of this length.
    pub fn nanoseconds_for(&self, length: usize) -> u64 {
        self.milliseconds_fixed * 1_000_000 + self.nanoseconds * length as u64
    }
}

/// Texts: a few copies of the input, and some hundred instructions a byte without optimisation.
const TEXT: Cost = Cost { memory: 64, memory_fixed: 1 << 20, nanoseconds: 20_000, milliseconds_fixed: 200 };

/// Markup that is rendered: each step of several makes another copy, and a list of what is open.
const RENDERED: Cost = Cost { memory: 400, nanoseconds: 150_000, milliseconds_fixed: 500, ..TEXT };

/// Trees of values: a byte of input may become an entry of a map.
const TREE: Cost = Cost { memory: 400, ..TEXT };

/// Pictures: pixels are limited by their number, not by the bytes of the file, and all that the work needs by what was
/// computed from the header.
const PICTURE: Cost =
    Cost { memory: 16, memory_fixed: pictures::MOST_MEMORY, nanoseconds: 40_000, milliseconds_fixed: 500 };

/// A connection and its buffers.
const CONNECTION: Cost = Cost { memory: 400, memory_fixed: 4 << 20, ..TEXT };

/// Every target.
pub const TARGETS: &[FuzzTarget] = &[
    FuzzTarget {
        name: "head",
        promise: "what arrives behind the edge has a path with a slash, names in lower case and no NUL; never a 500",
        run: edge::head,
        words: "http",
        cost: CONNECTION,
    },
    FuzzTarget {
        name: "multipart",
        promise: "the fields of a form of parts, sent again, are the same fields",
        run: edge::multipart,
        words: "http",
        cost: CONNECTION,
    },
    FuzzTarget {
        name: "query",
        promise: "a query written from what was decoded decodes to the same, and a form is read like a query",
        run: values::query,
        words: "query",
        cost: TREE,
    },
    FuzzTarget {
        name: "json",
        promise: "a body written from what was decoded decodes to the same",
        run: values::json,
        words: "json",
        cost: TREE,
    },
    FuzzTarget {
        name: "arguments",
        promise: "a refusal is a 400; what was coerced by a shipped endpoint fits it and stays as it is",
        run: values::arguments,
        words: "query",
        cost: TREE,
    },
    FuzzTarget {
        name: "schema",
        promise: "what a schema accepts and coerces it accepts again, unchanged",
        run: values::schema,
        words: "json",
        cost: TREE,
    },
    FuzzTarget {
        name: "fields",
        promise: "what was kept of a document is in the document, and is kept again",
        run: values::fields,
        words: "query",
        cost: TREE,
    },
    FuzzTarget {
        name: "cursor",
        promise: "a cursor written from what was read reads the same",
        run: values::cursor,
        words: "json",
        cost: TREE,
    },
    FuzzTarget {
        name: "sanitiser",
        promise: "a browser sees nothing outside the policy, no handler and no script; sanitising again changes \
                  nothing",
        run: markup::sanitiser,
        words: "html",
        cost: TEXT,
    },
    FuzzTarget {
        name: "content",
        promise: "sanitised content, excerpts, titles and comments stay within the policy when they are rendered",
        run: markup::content,
        words: "html",
        cost: RENDERED,
    },
    FuzzTarget {
        name: "blocks",
        promise: "a block written from what was parsed parses to the same block",
        run: markup::blocks,
        words: "html",
        cost: TEXT,
    },
    FuzzTarget {
        name: "shortcodes",
        promise: "attributes are parts of the text; taking shortcodes out makes it no longer",
        run: markup::shortcodes,
        words: "html",
        cost: TEXT,
    },
    FuzzTarget {
        name: "texts",
        promise: "plain fields hold no markup, addresses no script, escaped texts nothing that ends what they stand in",
        run: texts::texts,
        words: "html",
        cost: TEXT,
    },
    FuzzTarget {
        name: "page_head",
        promise: "what a page says of itself is no longer than the page",
        run: texts::page_head,
        words: "html",
        cost: TEXT,
    },
    FuzzTarget {
        name: "wxr",
        promise: "faults name a line of the file; items are counted as they come",
        run: xml::wxr,
        words: "xml",
        cost: TREE,
    },
    FuzzTarget {
        name: "xmlrpc",
        promise: "values of a call, answered and read again, are answered the same",
        run: xml::xmlrpc,
        words: "xml",
        cost: TREE,
    },
    FuzzTarget {
        name: "exif",
        promise: "what a camera wrote is described in no more bytes than it wrote",
        run: pictures::exif,
        words: "pictures",
        cost: TEXT,
    },
    FuzzTarget { name: "png", promise: pictures::PROMISE, run: pictures::png, words: "pictures", cost: PICTURE },
    FuzzTarget { name: "gif", promise: pictures::PROMISE, run: pictures::gif, words: "pictures", cost: PICTURE },
    FuzzTarget { name: "webp", promise: pictures::PROMISE, run: pictures::webp, words: "pictures", cost: PICTURE },
    FuzzTarget { name: "jpeg", promise: pictures::PROMISE, run: pictures::jpeg, words: "pictures", cost: PICTURE },
    FuzzTarget {
        name: "boxed",
        promise: "what told a place in a film tells it no more when it was written over; nothing moves",
        run: pictures::boxed,
        words: "pictures",
        cost: TEXT,
    },
    FuzzTarget {
        name: "declarations",
        promise: "a declaration is loaded or every problem is told, each with a sentence",
        run: declared::declarations,
        words: "toml",
        cost: Cost { memory: 2_000, memory_fixed: 8 << 20, nanoseconds: 100_000, milliseconds_fixed: 1_000 },
    },
];

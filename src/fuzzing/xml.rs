//! XML: exports and calls.

use super::HtmlAuditor;
use crate::import::items::ReadError;
use crate::import::wxr::{self, WxrLimits};
use cms_core::xmlrpc::value::Value;
use cms_core::xmlrpc::wire;
use std::convert::Infallible;

/// An export of another site.
pub(super) fn wxr(bytes: &[u8], _: HtmlAuditor) {
    let limits = WxrLimits { text: 64 << 10, record: 256 << 10, depth: 64, items: 1_000 };
    let mut items = 0;
    let read = wxr::read(
        bytes,
        &limits,
        |_| (),
        |_| {
            items += 1;
            Ok::<_, Infallible>(())
        },
    );
    assert!(items <= limits.items);
    match read {
        Ok(summary) => {
            let told = summary.authors + summary.terms.values().sum::<u64>() + summary.records.values().sum::<u64>();
            assert_eq!(told, items);
        }
        Err(ReadError::File(fault)) => {
            let lines = bytes.iter().filter(|b| **b == b'\n').count() as u64 + 1;
            assert!((1..=lines).contains(&fault.line) && !fault.message.is_empty(), "{fault} of {lines} lines");
        }
        Err(ReadError::Sink(never)) => match never {},
    }
}

/// A call of an old client.
pub(super) fn xmlrpc(bytes: &[u8], _: HtmlAuditor) {
    let limits = wire::CallLimits { depth: 32, values: 10_000, list: 1_000 };
    let Ok(called) = wire::read(bytes, limits) else { return };
    let answer = wire::answer(&Value::from(called.params));
    let text = std::str::from_utf8(&answer).expect("UTF-8");
    let params = text.split_once("<params>").and_then(|(_, rest)| rest.rsplit_once("</params>"));
    let (params, _) = params.expect("an answer");
    let call = format!("<methodCall><methodName>x</methodName><params>{params}</params></methodCall>");
    let limits = wire::CallLimits { depth: limits.depth + 1, values: limits.values + 1, list: limits.list };
    let again = wire::read(call.as_bytes(), limits).expect("what was written reads");
    let [again] = again.params.as_slice() else { panic!("{} values", again.params.len()) };
    assert_eq!(wire::answer(again), answer, "{text}");
}

//! Bodies that are sent as they come, for a client that waits for what happens.

use super::connection::{Busy, ConnectionState};
use super::guard;
use crate::model::EventStream;
use actix_http::body::{BodyStream, BoxBody};
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::try_unfold;
use std::io;
use std::rc::Rc;

/// A stream on its connection.
struct Sending {
    stream: EventStream,
    standing: Option<Rc<ConnectionState>>,
    /// The connection waits for no other request meanwhile.
    busy: Option<Busy>,
}

/// The body. It ends without its last chunk where the stream fails.
pub(super) fn body(stream: EventStream, standing: Option<Rc<ConnectionState>>) -> BoxBody {
    let sending = Sending { stream, standing, busy: None };
    let events = try_unfold(sending, |mut sending| async move {
        // The request itself has ended by the time that its body is asked for.
        if sending.busy.is_none() {
            sending.busy = sending.standing.as_ref().map(|standing| standing.begin(false));
        }
        match guard::guarded(Box::pin(sending.stream.next())).await {
            Ok(Some(bytes)) => Ok::<Option<(Bytes, Sending)>, io::Error>(Some((bytes, sending))),
            Ok(None) => Ok(None),
            Err(panic) => {
                tracing::error!(panic, "a stream failed inside the server");
                Err(io::Error::other("the stream failed"))
            }
        }
    });
    BoxBody::new(BodyStream::new(Box::pin(events)))
}

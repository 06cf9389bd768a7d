//! Bodies that are sent as they come, for a client that waits for what happens.

use super::connection::{BusyGuard, ConnectionState};
use super::respond::{self, JsonFormat, RequestFacts};
use super::{Edge, PreparedService, guard};
use crate::error::{ApiError, Code, status};
use crate::model::{EventQuery, EventStream, Payload, Reply, Request, StopReason, StopSignal};
use actix_http::body::{BodyStream, BoxBody};
use actix_http::{Request as HttpRequest, Response};
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::try_unfold;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The response to a request.
pub enum EdgeResponse {
    Reply(Reply),
    /// 200 with these headers, and a body that is sent as it comes.
    Stream(Vec<(String, String)>, EventStream),
}

/// A response that may be a stream.
pub type ResponseFuture = Pin<Box<dyn Future<Output = EdgeResponse>>>;

/// The headers and the body of a stream, or why there is none.
pub type StreamFuture = Pin<Box<dyn Future<Output = Result<(Vec<(String, String)>, EventStream), ApiError>>>>;

impl Edge {
    /// Whether streams of a service have to end.
    pub(super) fn endings(&self, compiled: &Arc<PreparedService>) -> StopSignal {
        let (services, stopping, own) = (self.services.clone(), self.stopping.clone(), compiled.clone());
        Arc::new(move || match stopping.load(Ordering::Relaxed) {
            true => Some(StopReason::Stopping),
            false => (!Arc::ptr_eq(&services.0.load(), &own)).then_some(StopReason::Replaced),
        })
    }
}

/// A stream on its connection.
struct EventBody {
    stream: EventStream,
    standing: Option<Rc<ConnectionState>>,
    /// The connection waits for no other request meanwhile.
    busy: Option<BusyGuard>,
}

/// The response to a request for a stream of events, and the length of its body.
pub(super) async fn response(
    http: &HttpRequest,
    (request, query): (Request, EventQuery),
    (compiled, edge): (&Arc<PreparedService>, &Edge),
    asked: &RequestFacts<'_>,
) -> Result<(Response<BoxBody>, usize), ApiError> {
    if !request.wants_events() {
        let message = "This is a stream of events: ask for it with `Accept: text/event-stream`.";
        return Err(ApiError::new(Code::BadRequest).with_message(message));
    }
    let opened = Arc::clone(&compiled.service).open_stream(request, query, edge.endings(compiled));
    let (headers, stream) = opened.await?;
    let head = Reply { status: status::OK, headers, payload: Payload::Empty };
    let (head, _) = respond::rest(head, &JsonFormat::default(), compiled, asked);
    Ok((head.set_body(body(stream, http.conn_data::<Rc<ConnectionState>>().cloned())), 0))
}

/// The body. It ends without its last chunk where the stream fails.
pub(super) fn body(stream: EventStream, standing: Option<Rc<ConnectionState>>) -> BoxBody {
    let sending = EventBody { stream, standing, busy: None };
    let events = try_unfold(sending, |mut sending| async move {
        // The request itself has ended by the time that its body is asked for.
        if sending.busy.is_none() {
            sending.busy = sending.standing.as_ref().map(|standing| standing.begin(false));
        }
        match guard::guarded(Box::pin(sending.stream.next())).await {
            Ok(Some(bytes)) => Ok::<Option<(Bytes, EventBody)>, io::Error>(Some((bytes, sending))),
            Ok(None) => Ok(None),
            Err(panic) => {
                tracing::error!(panic, "a stream failed inside the server");
                Err(io::Error::other("the stream failed"))
            }
        }
    });
    BoxBody::new(BodyStream::new(Box::pin(events)))
}

//! Bodies of whole collections and sites: piece after piece, each read when the client has taken the one before.

use super::{PreparedService, guard};
use crate::error::status;
use crate::model::{Payload, Reply, Request};
use actix_http::body::{BodyStream, BoxBody};
use bytes::Bytes;
use futures_util::stream::try_unfold;
use std::io;
use std::sync::Arc;

/// The next chunk of the body.
enum NextChunk {
    Piece(Bytes, Option<String>),
    Read(String),
}

/// A body that begins with `first` and goes on with the responses to the request with each `_cursor`. It ends without its
/// last chunk where a piece cannot be read, so that clients notice.
pub(super) fn body(first: Bytes, next: String, compiled: Arc<PreparedService>, request: Request) -> BoxBody {
    let pieces = try_unfold(Some(NextChunk::Piece(first, Some(next))), move |state| {
        let (compiled, mut request) = (compiled.clone(), request.clone());
        async move {
            let (bytes, next) = match state {
                None => return Ok::<_, io::Error>(None),
                Some(NextChunk::Piece(bytes, next)) => (bytes, next),
                Some(NextChunk::Read(cursor)) => {
                    request.query.insert("_cursor".into(), cursor.into());
                    request.goes_on = true;
                    match guard::guarded(compiled.service.call(&request)).await {
                        Ok(Reply { status: status::OK, payload: Payload::Pieces { bytes, next, .. }, .. }) => {
                            (bytes, next)
                        }
                        Ok(reply) => return Err(io::Error::other(format!("status {} of a piece", reply.status))),
                        Err(panic) => {
                            tracing::error!(panic, "a piece of a body failed inside the server");
                            return Err(io::Error::other("a piece cannot be read"));
                        }
                    }
                }
            };
            // An empty chunk would end the body.
            Ok((!bytes.is_empty()).then(|| (bytes, next.map(NextChunk::Read))))
        }
    });
    BoxBody::new(BodyStream::new(Box::pin(pieces)))
}

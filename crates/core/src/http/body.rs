//! Bodies of responses that are in memory.

use actix_http::body::{BodySize, BoxBody, MessageBody};
use bytes::Bytes;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Most bytes that a connection takes at once. It copies them before it sends them.
const SLICE: usize = 64 << 10;

/// A body of these bytes. The connection copies at most [`SLICE`] of them at a time, so a response of several MiB is in
/// memory once, however slowly its client reads.
pub fn of(bytes: Bytes) -> BoxBody {
    if bytes.len() <= SLICE { BoxBody::new(bytes) } else { BoxBody::new(BodySlices(bytes)) }
}

/// The rest of a long body.
struct BodySlices(Bytes);

impl MessageBody for BodySlices {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.0.len() as u64)
    }

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        let next = self.0.len().min(SLICE);
        Poll::Ready((next > 0).then(|| Ok(self.0.split_to(next))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;

    #[test]
    fn long_bodies_come_in_slices() {
        for (length, expected) in
            [(0, vec![]), (SLICE, vec![SLICE]), (SLICE + 1, vec![SLICE, 1]), (2 * SLICE, vec![SLICE, SLICE])]
        {
            let bytes: Bytes = (0..length).map(|i| i as u8).collect::<Vec<_>>().into();
            let mut body = of(bytes.clone());
            assert_eq!(body.size(), BodySize::Sized(length as u64));
            let mut context = Context::from_waker(Waker::noop());
            let slices: Vec<Bytes> = std::iter::from_fn(|| match Pin::new(&mut body).poll_next(&mut context) {
                Poll::Ready(slice) => slice.map(|slice| slice.expect("bytes in memory")),
                Poll::Pending => panic!("nothing to wait for"),
            })
            .collect();
            assert_eq!(slices.iter().map(Bytes::len).collect::<Vec<_>>(), expected);
            assert_eq!(slices.concat(), bytes);
        }
    }
}

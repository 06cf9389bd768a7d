//! The stages of a request, in order.
//!
//! One response shows one state of the database: whatever a request reads between two waits is read from one snapshot,
//! from the authorization of its target to the last document that is embedded. A read waits for nothing, so that is all
//! of it. After a commit a new state is read, with what was committed. Who asks and the settings are known before.

use super::endpoint::EndpointCall;
use super::outside::OuterRequest;
use super::routing::RoutedCall;
use super::{CallOutcome, Engine};
use crate::access::LoadedRows;
use crate::model::{Method, Reply, Request};
use crate::request::call::Call;
use crate::scope::Scope;
use cms_storage::Storage;
use std::borrow::Cow;
use std::future::poll_fn;
use std::ops::ControlFlow::{self, Break, Continue};
use std::pin::{Pin, pin};

/// How deep requests may be inside others. Each level takes some of the stack.
const MOST_NESTED: u8 = 8;

impl Engine {
    /// Serves one request from outside.
    // Boxed: callers move what they await, and this is large.
    pub fn serve<'a>(&'a self, request: &'a Request) -> Pin<Box<dyn Future<Output = Reply> + 'a>> {
        Box::pin(async { last(self.stages(OuterRequest::new(request)).await) })
    }

    /// Carries out a request that is inside another, up to what is made of its outcome.
    pub async fn dispatch(&self, scope: &Scope, call: &Call) -> CallOutcome {
        if scope.depth > MOST_NESTED {
            return CallOutcome::early(Err(scope.internal(&"requests inside each other without end")));
        }
        last(self.stages(InnerRequest { scope, call }).await)
    }

    /// Every stage of a request, in order. A stage that breaks has the response already. A request inside another
    /// one is identified and decoded, and is finished by its caller; everything else is the same.
    async fn stages<'a, O: Origin<'a>>(&self, mut origin: O) -> ControlFlow<O::Answer, O::Answer> {
        let (mut scope, method) = origin.identify(self).await?;
        origin.look_up(self, &mut scope)?;
        let call = origin.decode(self, method);
        let (scope, call) = (&*scope, &*call);
        let call_outcome = async {
            let found = self.route(scope, call)?;
            let preview = found.preview()?;
            let found = RoutedCall { scope: preview.as_deref().unwrap_or(scope), ..found };
            let password = found.count_password()?;
            let endpoint_call = EndpointCall::new(&found, password.as_ref());
            let loaded = LoadedRows::default();
            let result = async {
                let args = endpoint_call.check()?;
                endpoint_call.prefetch(&args);
                let allowed = endpoint_call.authorize(args, &loaded)?;
                endpoint_call.limit()?;
                endpoint_call.handle(&allowed).await
            };
            let result = result.await;
            let call_outcome = endpoint_call.conclude(result, &loaded);
            Continue(CallOutcome { preview, ..call_outcome })
        };
        // Pinned where it is made: it has several thousand bytes.
        let answered = pin!(async {
            let call_outcome = last(call_outcome.await);
            origin.finish(self, scope, call, call_outcome).await
        });
        Continue(in_one_state(&*self.storage, answered).await)
    }
}

/// Where a request comes from: how it begins and how it ends.
pub(super) trait Origin<'a> {
    type Answer;

    /// The caller, and the method.
    async fn identify(&mut self, engine: &Engine) -> ControlFlow<Self::Answer, (Cow<'a, Scope>, Method)>;

    /// The response cache: the response to the same request, if there is one.
    fn look_up(&mut self, _: &Engine, _: &mut Cow<'a, Scope>) -> ControlFlow<Self::Answer> {
        Continue(())
    }

    /// The call.
    fn decode(&self, engine: &Engine, method: Method) -> Cow<'a, Call>;

    /// Makes the response from the outcome of the call.
    async fn finish(self, engine: &Engine, scope: &Scope, call: &Call, call_outcome: CallOutcome) -> Self::Answer;
}

/// A request inside another, whose caller is that of the other.
struct InnerRequest<'a> {
    scope: &'a Scope,
    call: &'a Call,
}

impl<'a> Origin<'a> for InnerRequest<'a> {
    type Answer = CallOutcome;

    async fn identify(&mut self, _: &Engine) -> ControlFlow<CallOutcome, (Cow<'a, Scope>, Method)> {
        Continue((Cow::Borrowed(self.scope), self.call.method))
    }

    fn decode(&self, _: &Engine, _: Method) -> Cow<'a, Call> {
        Cow::Borrowed(self.call)
    }

    async fn finish(self, _: &Engine, _: &Scope, _: &Call, call_outcome: CallOutcome) -> CallOutcome {
        call_outcome
    }
}

/// Carries a request out so that all snapshots between two of its waits are of one state.
async fn in_one_state<T>(storage: &dyn Storage, mut request: Pin<&mut impl Future<Output = T>>) -> T {
    poll_fn(|context| {
        let _state = storage.pin_snapshot();
        request.as_mut().poll(context)
    })
    .await
}

/// The outcome of stages, whichever was the last.
fn last<T>(answer: ControlFlow<T, T>) -> T {
    match answer {
        Break(answer) | Continue(answer) => answer,
    }
}

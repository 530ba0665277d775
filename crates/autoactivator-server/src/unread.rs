//! Answers that clients have not read yet: counted from when they are made until they are sent, and bounded.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Extension, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};

use crate::app::App;
use crate::budget::Share;
use crate::client::Client;
use crate::problem::Problem;

/// Bytes up to which an answer is not counted: the system's own buffers are larger.
const SMALL_ANSWER: usize = 16 << 10;

/// Marks an answer whose bytes are kept for all clients anyway: it costs nothing to let one read it slowly.
#[derive(Clone, Copy)]
pub(crate) struct Kept;

/// Counts an answer until the client has it. If clients that do not read hold too much already, it is refused instead.
pub(crate) async fn counted(
    State(app): State<Arc<App>>,
    Extension(client): Extension<Client>,
    request: Request,
    next: Next,
) -> Response {
    let response = next.run(request).await;
    let bytes = usize::try_from(response.body().size_hint().lower()).unwrap_or(usize::MAX);
    if bytes <= SMALL_ANSWER || response.extensions().get::<Kept>().is_some() {
        return response;
    }
    let Some(share) = app.unread.take(client, bytes) else {
        let message = "too many answers are waiting to be read: read them, or try again later";
        return Problem::busy(message).into_response();
    };
    let share = Arc::new(share);
    response.map(|body| Body::new(Counted { body, share }))
}

/// A body whose bytes hold a share until they are sent.
struct Counted {
    body: Body,
    share: Arc<Share>,
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        let frame = ready!(Pin::new(&mut this.body).poll_frame(context));
        let share = &this.share;
        let held = |frame: Frame<Bytes>| frame.map_data(|bytes| held(bytes, Arc::clone(share)));
        Poll::Ready(frame.map(|frame| frame.map(held)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Bytes that hold a share until they are sent: the connection drops them then, long after the body they came in.
fn held(bytes: Bytes, share: Arc<Share>) -> Bytes {
    struct Held {
        bytes: Bytes,
        _share: Arc<Share>,
    }
    impl AsRef<[u8]> for Held {
        fn as_ref(&self) -> &[u8] {
            &self.bytes
        }
    }
    Bytes::from_owner(Held { bytes, _share: share })
}

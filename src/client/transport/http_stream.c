/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_stream.c: streams over HTTP: a transfer that passes its response to callbacks on the loop's
 * thread instead of a buffer that a caller reads.
 *
 * Pausing: a callback that returns false marks the transfer as paused; curl is paused with the next
 * piece, which it keeps (CURL_WRITEFUNC_PAUSE). Resuming posts a request to the loop, as a reader
 * of a full buffer does.
 *
 * A stream that gets a 401 is not sent again here, because fetching a newer credential may block.
 * The credential is recorded as rejected, and the next stream gets a newer one before it is sent.
 * (kc__client_stream sends again at once.)
 */
#include "client/transport/transport_http_internal.h"

static kc__client_transport_transfer *fetch_of_stream(kc_stream *stream)
{
    return kc_container_of(stream, kc__client_transport_transfer, stream);
}

/* ---- on the loop's thread ---- */

void kc__client_transport_tell_head(kc__client_transport_transfer *x)
{
    if (x->response.status == 401)
        kc__client_transport_refuse_credential(x->http, x->credential);
    x->callbacks->on_head(&x->stream, &x->response, x->stream_user);
}

size_t kc__client_transport_tell_body(kc__client_transport_transfer *x, kc_str bytes)
{
    bool paused = false;
    kc_locked (&x->mutex) {
        paused = x->paused;
        x->paused = true; /* Before the callback, so that a resume during the callback counts. */
    }
    if (paused)
        return CURL_WRITEFUNC_PAUSE;
    if (x->callbacks->on_body(&x->stream, bytes, x->stream_user))
        kc_locked (&x->mutex)
            x->paused = false;
    return bytes.n;
}

void kc__client_transport_tell_end(kc__client_transport_transfer *x)
{
    kc_scoped(kc_error) err = {0};
    bool cancelled = false;
    kc_locked (&x->mutex)
        cancelled = x->cancelled;
    if (cancelled)
        kc_error_set(&err, KC_TIMEOUT, "cancelled");
    else if (x->result != CURLE_OK)
        kc__client_transport_transfer_error(x, &err);
    x->callbacks->on_end(&x->stream, err.reason == KC_OK ? NULL : &err, x->stream_user);
}

/* ---- the owner's side ---- */

static void http_stream_resume(kc_stream *stream)
{
    kc__client_transport_transfer *x = fetch_of_stream(stream);
    bool resume = false;
    kc_locked (&x->mutex) {
        resume = x->paused && !x->done;
        x->paused = false;
    }
    if (resume)
        kc__client_transport_loop_resume(x->loop, x);
}

static void http_stream_cancel(kc_stream *stream)
{
    kc__client_transport_transfer *x = fetch_of_stream(stream);
    bool stop = false;
    kc_locked (&x->mutex) {
        stop = !x->done;
        x->cancelled = true;
    }
    if (stop)
        kc__client_transport_loop_end(x->loop, x);
}

static void http_stream_release(kc_stream *stream)
{
    kc__client_transport_transfer_unref(fetch_of_stream(stream));
}

static const kc_stream_ops http_stream_ops = {
    .resume = http_stream_resume, .cancel = http_stream_cancel, .release = http_stream_release};

void kc__client_transport_set_callbacks(kc__client_transport_transfer *x,
                                        const kc_stream_callbacks *callbacks, void *user)
{
    x->stream.ops = &http_stream_ops;
    x->callbacks = callbacks;
    x->stream_user = user;
}

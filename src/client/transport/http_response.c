/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_response.c: curl's callbacks for a response, on the driver of the loop.
 *
 * The body is buffered until its reader takes it. Above KC__CLIENT_TRANSPORT_MAX_BUFFERED bytes the
 * callback pauses curl, which keeps the current piece and delivers it again when the reader resumes
 * the transfer.
 */
#include "client/transport/transport_http_internal.h"

#include "kc/ascii.h"

/* ---- sending ---- */

/*
 * Called before each time the request is sent. curl sends it again on a new connection if a reused
 * connection was closed before any response. That is correct for requests that change nothing. The
 * server may have executed any other request, and only the caller can handle that case.
 */
int kc__client_transport_on_connect(void *user, char *remote, char *local, int remote_port,
                                    int local_port)
{
    kc__client_transport_transfer *x = user;
    (void)remote, (void)local, (void)remote_port, (void)local_port;
    if (++x->attempts == 1 || x->replayable)
        return CURL_PREREQFUNC_OK;
    x->refused_to_repeat = true;
    return CURL_PREREQFUNC_ABORT;
}

/* ---- the head ---- */

static kc_str lower(kc_arena *arena, kc_str name)
{
    char *copy = kc_arena_strndup(arena, name.p, name.n);
    for (size_t i = 0; i < name.n; i++)
        copy[i] = kc_lower(copy[i]);
    return kc_str_of(copy, name.n);
}

static bool transport_response_add_field(kc__client_transport_transfer *x, kc_str line)
{
    const ptrdiff_t colon = kc_str_find(line, ':');
    if (colon <= 0)
        return true; /* The status line. */
    if (x->fields.n >= KC__CLIENT_TRANSPORT_MAX_HEAD_FIELDS)
        return false;
    const kc_str name = lower(&x->arena, kc_str_sub(line, 0, (size_t)colon));
    const kc_str value = kc_str_trim(kc_str_sub(line, (size_t)colon + 1, line.n));
    if (x->requested_gzip && kc_str_is(name, "content-encoding") &&
        kc_str_eq_nocase(value, KC_STR("gzip"))) {
        x->gzip = true; /* Decoded before the reader sees the body. */
        return true;
    }
    kc_vec_push(&x->fields, (kc_http_field){name, kc_arena_str(&x->arena, value)});
    return true;
}

/* Content-Length was that of the compressed body. */
static void drop_length(kc__client_transport_transfer *x)
{
    for (size_t i = x->fields.n; i--;)
        if (kc_str_is(x->fields.items[i].name, "content-length"))
            kc_vec_remove(&x->fields, i);
}

static void end_head(kc__client_transport_transfer *x)
{
    long status = 0;
    curl_easy_getinfo(x->handle->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status < 200) { /* "100 Continue" and other interim responses; another head follows. */
        kc_vec_clear(&x->fields);
        return;
    }
    if (x->gzip)
        drop_length(x);
    x->head_over = true;
    kc_locked (&x->mutex) {
        x->response.status = (int)status;
        x->response.fields = x->fields.items;
        x->response.n_fields = x->fields.n;
        x->head = true;
    }
    if (x->callbacks)
        kc__client_transport_tell_head(x);
    else
        kc__client_transport_loop_touch(x->loop, x);
}

size_t kc__client_transport_on_header(char *line, size_t size, size_t n, void *user)
{
    kc__client_transport_transfer *x = user;
    const kc_str text = kc_str_trim(kc_str_of(line, size * n));
    x->head_bytes += size * n;
    if (x->head_over)
        return n; /* Trailers. */
    if (x->head_bytes > KC__CLIENT_TRANSPORT_MAX_HEAD)
        return 0;
    if (kc_str_starts(text, KC_STR("HTTP/")))
        kc_vec_clear(&x->fields);
    else if (!text.n)
        end_head(x);
    else if (!transport_response_add_field(x, text))
        return 0;
    return n;
}

/* ---- the body ---- */

size_t kc__client_transport_on_body(char *bytes, size_t size, size_t n, void *user)
{
    kc__client_transport_transfer *x = user;
    bool full = false;
    if (x->callbacks)
        return kc__client_transport_tell_body(x, kc_str_of(bytes, size * n));
    kc_locked (&x->mutex) {
        full = x->filling.n >= KC__CLIENT_TRANSPORT_MAX_BUFFERED;
        x->paused = full;
        if (!full)
            kc_buf_append(&x->filling, kc_str_of(bytes, size * n));
    }
    kc__client_transport_loop_touch(x->loop, x);
    return full ? CURL_WRITEFUNC_PAUSE : n;
}

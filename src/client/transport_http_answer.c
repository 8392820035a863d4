/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport_http_answer.c: what curl gives us of an answer, piece by piece, on the lane's thread.
 *
 * A body is gathered until its reader takes it. Where more than KC__BODY_AHEAD waits, curl is told
 * to pause, and keeps the piece at hand; the reader's wish to resume brings it again.
 */
#include "client/transport_http_internal.h"

#include "kc/ascii.h"

/* ---- sending ---- */

/*
 * Called before each time the request goes out. curl sends one again, on a new connection, when the
 * one it reused was closed before anything came back. That is right for what changes nothing; of
 * anything else the server may have carried out the first, and only the caller can know what that
 * means.
 */
int kc__on_sending(void *user, char *remote, char *local, int remote_port, int local_port)
{
    kc__fetch *x = user;
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

static bool add_field(kc__fetch *x, kc_str line)
{
    const ptrdiff_t colon = kc_str_find(line, ':');
    if (colon <= 0)
        return true; /* The status line. */
    if (x->fields.n >= KC__MAX_HEAD_FIELDS)
        return false;
    const kc_str name = lower(&x->arena, kc_str_sub(line, 0, (size_t)colon));
    const kc_str value = kc_str_trim(kc_str_sub(line, (size_t)colon + 1, line.n));
    if (x->asked_gzip && kc_str_is(name, "content-encoding") &&
        kc_str_eq_nocase(value, KC_STR("gzip"))) {
        x->gzip = true; /* Is undone before anybody sees the body. */
        return true;
    }
    kc_vec_push(&x->fields, (kc_http_field){name, kc_arena_str(&x->arena, value)});
    return true;
}

/* The length was that of the compressed body. */
static void drop_length(kc__fetch *x)
{
    for (size_t i = x->fields.n; i--;)
        if (kc_str_is(x->fields.items[i].name, "content-length"))
            kc_vec_remove(&x->fields, i);
}

static void end_head(kc__fetch *x)
{
    long status = 0;
    curl_easy_getinfo(x->handle->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status < 200) { /* "100 Continue" and its like; another follows. */
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
    kc__lane_touch(x->lane, x);
}

size_t kc__on_header(char *line, size_t size, size_t n, void *user)
{
    kc__fetch *x = user;
    const kc_str text = kc_str_trim(kc_str_of(line, size * n));
    x->head_bytes += size * n;
    if (x->head_over)
        return n; /* Trailers. */
    if (x->head_bytes > KC__MAX_HEAD)
        return 0;
    if (kc_str_starts(text, KC_STR("HTTP/")))
        kc_vec_clear(&x->fields);
    else if (!text.n)
        end_head(x);
    else if (!add_field(x, text))
        return 0;
    return n;
}

/* ---- the body ---- */

size_t kc__on_body(char *bytes, size_t size, size_t n, void *user)
{
    kc__fetch *x = user;
    bool full = false;
    kc_locked (&x->mutex) {
        full = x->filling.n >= KC__BODY_AHEAD;
        x->paused = full;
        if (!full)
            kc_buf_append(&x->filling, kc_str_of(bytes, size * n));
    }
    kc__lane_touch(x->lane, x);
    return full ? CURL_WRITEFUNC_PAUSE : n;
}

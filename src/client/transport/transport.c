/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.c: dispatches the calls of transport.h to the table of a transport: HTTP (http.c), a
 * server in the same process (src/embed/embed_transport.c), or, in tests, one of these with fault
 * injection. Transports without streams get them from threaded.c.
 */
#include "kc/transport.h"

#include "client/transport/threaded.h"

#include <assert.h>

kc_http_response *kc_transport_open(kc_transport *t, const kc_http_request *request, kc_error *err)
{
    assert(request->method && request->target.n && request->target.p[0] == '/');
    return t->ops->open(t, request, err);
}

kc_stream *kc_transport_start(kc_transport *t, const kc_http_request *request,
                              const kc_stream_callbacks *callbacks, void *user, kc_error *err)
{
    assert(request->method && request->target.n && request->target.p[0] == '/');
    return t->ops->start ? t->ops->start(t, request, callbacks, user, err)
                         : kc__client_transport_threaded_start(t, request, callbacks, user, err);
}

void kc_stream_resume(kc_stream *stream)
{
    stream->ops->resume(stream);
}

void kc_stream_cancel(kc_stream *stream)
{
    stream->ops->cancel(stream);
}

kc_stream *kc_stream_release(kc_stream *stream)
{
    if (stream)
        stream->ops->release(stream);
    return NULL;
}

ssize_t kc_http_response_read(kc_http_response *response, char *ret_bytes, size_t n, kc_error *err)
{
    return n ? response->ops->read(response, ret_bytes, n, err) : 0;
}

kc_http_response *kc_http_response_close(kc_http_response *response)
{
    if (response)
        response->ops->close(response);
    return NULL;
}

kc_str kc_http_response_field(const kc_http_response *response, kc_str name)
{
    for (size_t i = 0; i < response->n_fields; i++)
        if (kc_str_eq(response->fields[i].name, name))
            return response->fields[i].value;
    return (kc_str){0};
}

int kc_http_request_send(kc_transport *t, const kc_http_request *request, kc_buf *out,
                         kc_error *err)
{
    kc_auto(kc_http_response) *response = kc_transport_open(t, request, err);
    char chunk[8192];
    ssize_t n = 1;
    if (!response)
        return kc_error_result(err);
    while (n > 0 && !out->failed) {
        n = kc_http_response_read(response, chunk, sizeof(chunk), err);
        if (n > 0)
            kc_buf_append(out, kc_str_of(chunk, (size_t)n));
    }
    if (n < 0)
        return kc_error_result(err);
    if (out->failed)
        return kc_error_set(err, KC_TOO_LARGE, "the response exceeds %zu bytes", out->limit);
    return response->status;
}

kc_transport *kc_transport_free(kc_transport *t)
{
    if (t)
        t->ops->free(t);
    return NULL;
}

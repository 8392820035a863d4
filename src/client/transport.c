/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.c: the contract of transport.h, called by name. A way to a server is a table of
 * functions: HTTP (transport_http.c), a server in the same process (src/embed/embed_transport.c),
 * and in tests one of these with faults around it.
 */
#include "kc/transport.h"

#include <assert.h>

kc_http_response *kc_transport_open(kc_transport *t, const kc_http_request *request, kc_error *err)
{
    assert(request->method && request->target.n && request->target.p[0] == '/');
    return t->ops->open(t, request, err);
}

ssize_t kc_http_read(kc_http_response *response, char *ret_bytes, size_t n, kc_error *err)
{
    return n ? response->ops->read(response, ret_bytes, n, err) : 0;
}

kc_http_response *kc_http_close(kc_http_response *response)
{
    if (response)
        response->ops->close(response);
    return NULL;
}

kc_str kc_http_field_of(const kc_http_response *response, kc_str name)
{
    for (size_t i = 0; i < response->n_fields; i++)
        if (kc_str_eq(response->fields[i].name, name))
            return response->fields[i].value;
    return (kc_str){0};
}

int kc_http_fetch(kc_transport *t, const kc_http_request *request, kc_buf *out, kc_error *err)
{
    kc_auto(kc_http_response) *response = kc_transport_open(t, request, err);
    char chunk[8192];
    ssize_t n = response ? 1 : -1;
    while (n > 0 && !out->failed) {
        n = kc_http_read(response, chunk, sizeof(chunk), err);
        if (n > 0)
            kc_buf_append(out, kc_str_of(chunk, (size_t)n));
    }
    if (n < 0)
        return -1;
    if (out->failed)
        return kc_error_set(err, KC_TOO_LARGE, "the answer is longer than %zu bytes", out->limit);
    return response->status;
}

kc_transport *kc_transport_free(kc_transport *t)
{
    if (t)
        t->ops->free(t);
    return NULL;
}

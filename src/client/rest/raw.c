/* SPDX-License-Identifier: Apache-2.0 */
/* raw.c: raw requests: paths that are not objects, and special subresources. */
#include "client/rest/client_internal.h"

#define MAX_BODY ((size_t)256 << 20)

int kc_client_raw(kc_client *client, const char *method, kc_str target, kc_str content_type,
                  kc_str body, kc_buf *out, kc_error *err)
{
    const bool reads = !strcmp(method, "GET") || !strcmp(method, "HEAD");
    kc_scoped(kc__client_request) request = {.method = method,
                                             .type = content_type,
                                             .body = body,
                                             .accept = KC_STR("application/json,*/*"),
                                             .writes = !reads,
                                             .fenced = !reads};
    if (!target.n || target.p[0] != '/')
        return kc_error_set(err, KC_BAD_REQUEST, "a request target must begin with '/': \"%.*s\"",
                            KC_ARG(target));
    kc_buf_append(&request.target, target);
    if (!reads && client->bind.dry_run)
        kc__client_request_param(&request, "dryRun", "All");
    kc_scoped(kc_error) why = {0};
    kc_auto(kc_http_response) *response = kc__client_send(client, &request, &why);
    kc_scoped(kc_buf) all = {.limit = out->limit > out->n ? out->limit - out->n : MAX_BODY};
    if (!response || kc__client_read_body(response, &all, &why) < 0)
        return kc_error_move(err, &why);
    kc_buf_append(out, kc_buf_str(&all));
    return 0;
}

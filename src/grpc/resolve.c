/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.c: resolves host names on libuv's threads. An address needs no lookup and none of those
 * threads: it is converted here, and the result is reported by a task, so that the owner sees the
 * same order of events in both cases.
 */
#include "grpc/resolve.h"

static const struct addrinfo tcp = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};

static void report_resolved(kc__loop_task *task)
{
    kc__grpc_resolver *resolver = kc_container_of(task, kc__grpc_resolver, task);
    resolver->done(resolver);
}

static void on_resolved(uv_getaddrinfo_t *request, int status, struct addrinfo *addresses)
{
    kc__grpc_resolver *resolver = request->data;
    resolver->addresses = addresses;
    if (status < 0)
        kc_buf_printf(&resolver->error, "resolve: %s", uv_strerror(status));
    resolver->done(resolver);
}

/* Converts the text of an address; false for a name. */
static bool convert_address(kc__grpc_resolver *resolver, const char *host, const char *port)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    return getaddrinfo(host, port, &hints, &resolver->addresses) == 0;
}

void kc__grpc_resolve(kc__grpc_resolver *resolver, kc__loop *loop, const char *host,
                      const char *port)
{
    resolver->task.run = report_resolved;
    resolver->request.data = resolver;
    if (!convert_address(resolver, host, port)) {
        const int r =
            uv_getaddrinfo(kc__loop_uv(loop), &resolver->request, on_resolved, host, port, &tcp);
        if (r == 0)
            return;
        kc_buf_printf(&resolver->error, "resolve: %s", uv_strerror(r));
    }
    kc__loop_post(loop, &resolver->task);
}

void kc__grpc_resolver_cancel(kc__grpc_resolver *resolver)
{
    if (resolver->request.type == UV_GETADDRINFO)
        uv_cancel((uv_req_t *)&resolver->request);
}

void kc__grpc_resolver_done(kc__grpc_resolver *resolver)
{
    if (resolver->addresses)
        freeaddrinfo(resolver->addresses);
    kc_buf_done(&resolver->error);
    resolver->addresses = NULL;
}

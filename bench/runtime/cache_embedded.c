/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_embedded.c: from nothing to a synced cache of 53,000 ConfigMaps of 1 KB, with the server in
 * the process: no socket, no JSON.
 *
 * As `bench_runtime_cache_embedded serve` it is the server of cache.c, a process of its own.
 */
#include "bench.h"
#include "cache_times.h"

#include "kc/embedded_server.h"
#include "kc/kinds.h"

#include <stdio.h>
#include <unistd.h>

enum { BYTES = 1024 };

static void fill(kc_client *client, size_t n)
{
    kc_scoped(kc_error) err = {0};
    char value[BYTES];
    memset(value, 'x', sizeof(value));
    for (size_t i = 0; i < n; i++) {
        /* 1 KB as it is sent; the server adds a uid, times, managed fields. */
        kc_autofree char *text = kc_asprintf(
            "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"namespace\":\"default\","
            "\"name\":\"bench-%zu\",\"labels\":{\"app\":\"a%zu\"}},\"data\":{\"k\":\"%.*s\"}}",
            i, i % 100, BYTES - 130, value);
        kc_auto(kc_object) *object = kc_object_parse(kc_cstr(text), NULL, &err);
        kc_auto(kc_object) *made = kc_client_create(client, object, NULL, &err);
        if (!made)
            bench_cache_die("create", &err);
    }
}

static kc_embedded_server *server_with(size_t n, int port)
{
    kc_scoped(kc_error) err = {0};
    kc_embedded_server *server =
        kc_embedded_server_start(&(kc_embedded_server_opts){.port = port}, &err);
    kc_auto(kc_client) *client = server ? kc_embedded_server_client(server, &err) : NULL;
    if (!client)
        bench_cache_die("start a server", &err);
    fill(client, n);
    return server;
}

/* Says the port and runs until its input ends. */
static int serve(void)
{
    kc_auto(kc_embedded_server) *server = server_with(BENCH_CACHED_OBJECTS, -1);
    char byte;
    printf("%d\n", kc_embedded_server_port(server));
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    return 0;
}

int main(int argc, char **argv)
{
    kc_scoped(kc_error) err = {0};
    if (argc > 1 && strcmp(argv[1], "serve") == 0)
        return serve();
    kc_auto(kc_embedded_server) *server = server_with(BENCH_CACHED_OBJECTS, 0);
    kc_auto(kc_client) *client = kc_embedded_server_client(server, &err);
    bench_cache_times("embedded", client);
    return bench_result();
}

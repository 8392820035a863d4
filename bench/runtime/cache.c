/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.c: from nothing to a synced cache of 53,000 ConfigMaps of 1 KB over HTTP, and what that
 * takes of memory: all of the program, code and libraries included.
 *
 * The server is another program (cache_embedded.c), so that this one links what a user's program
 * with a cache links.
 */
#include "bench.h"
#include "cache_times.h"

#include "kc/kinds.h"

#include <malloc.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the server ---- */

typedef struct other {
    pid_t pid;
    int stop; /* Closing it ends the server. */
    int port;
} other;

/* The program beside this one. */
static other start_other(const char *self)
{
    kc_autofree char *program = kc_asprintf("%s_embedded", self);
    int in[2], out[2];
    other o = {0};
    if (pipe(in) < 0 || pipe(out) < 0 || (o.pid = fork()) < 0)
        bench_cache_die("start another process", NULL);
    if (o.pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        close(in[1]);
        close(out[0]);
        execl(program, program, "serve", NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    o.stop = in[1];
    FILE *said = fdopen(out[0], "r");
    if (!said || fscanf(said, "%d", &o.port) != 1)
        bench_cache_die("start a server", NULL);
    fclose(said);
    return o;
}

static void stop_other(other *o)
{
    close(o->stop);
    waitpid(o->pid, NULL, 0);
}

/* ---- memory ---- */

/* Bytes of the cached objects as JSON, and in memory. */
static size_t json_bytes(kc_cache *cache, size_t *ret_size)
{
    kc_object_list list = {0};
    size_t n = 0, size = 0, filled = 0;
    if (kc_cache_list(cache, &kc_kind_config_map, NULL, &list, NULL) < 0)
        bench_cache_die("list the cache", NULL);
    for (size_t i = 0; i < list.n; i++) {
        n += kc_object_json(list.items[i]).n;
        size += kc_object_size(list.items[i]);
        filled += kc_str_is(kc_object_namespace(list.items[i]), "default");
    }
    if (filled != BENCH_CACHED_OBJECTS) /* The server has ConfigMaps of its own in kube-system. */
        bench_cache_die("count the cached objects", NULL);
    kc_object_list_done(&list);
    *ret_size = size;
    return n;
}

/* A process that has done nothing else yet. */
static void measure_memory(kc_client *client)
{
    double seconds;
    const double before = bench_resident();
    kc_auto(kc_cache) *cache = bench_synced_cache(client, false, &seconds);
    const double after = bench_resident();
    const struct mallinfo2 heap = mallinfo2();
    size_t objects;
    const size_t json = json_bytes(cache, &objects);
    printf(
        "memory: %.1f MB resident (%.1f MB before), JSON of %d objects %.1f MB, objects %.1f MB, "
        "heap %.1f MB (%.1f MB free in it)\n",
        after / 1e6, before / 1e6, BENCH_CACHED_OBJECTS, (double)json / 1e6, (double)objects / 1e6,
        (double)heap.uordblks / 1e6, (double)heap.fordblks / 1e6);
    bench_at_most("resident memory, to the JSON of the cached objects", after / (double)json, 1.3);
}

int main(int argc, char **argv)
{
    (void)argc;
    kc_scoped(kc_error) err = {0};
    other o = start_other(argv[0]);
    kc_autofree char *url = kc_asprintf("http://127.0.0.1:%d", o.port);
    kc_auto(kc_config) *config = kc_config_for_url(url);
    kc_transport *transport = kc_transport_http_new(config, NULL, &err);
    if (!transport)
        bench_cache_die("make a transport", &err);
    kc_auto(kc_client) *client = kc_client_new(&(kc_client_opts){.transport = transport}, &err);
    if (!client)
        bench_cache_die("make a client", &err);
    measure_memory(client);
    bench_cache_times("HTTP", client);
    stop_other(&o);
    return bench_result();
}

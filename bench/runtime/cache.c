/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.c: from nothing to a synced cache of 53,000 ConfigMaps of 1 KB, and what that takes of
 * memory.
 *
 * Over HTTP the server is a process of its own (this program again, as `serve`), so that the memory
 * measured is the cache's program alone: all of it, code and libraries included. Embedded, server
 * and cache share the process, and only the time says something.
 *
 * A list that is read and thrown away is the measure for the time: what a cache adds to it.
 */
#include "bench.h"

#include "kc/cache.h"
#include "kc/embedded_server.h"
#include "kc/kinds.h"

#include <malloc.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OBJECTS = 53000, BYTES = 1024, ROUNDS = 5 };

static void die(const char *what, const kc_error *err)
{
    fprintf(stderr, "bench cache: %s: %s\n", what, kc_error_text(err));
    exit(2);
}

/* ---- a server that has them ---- */

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
            die("create", &err);
    }
}

static kc_embedded_server *server_with(size_t n, int port)
{
    kc_scoped(kc_error) err = {0};
    kc_embedded_server *server =
        kc_embedded_server_start(&(kc_embedded_server_opts){.port = port}, &err);
    kc_auto(kc_client) *client = server ? kc_embedded_server_client(server, &err) : NULL;
    if (!client)
        die("start a server", &err);
    fill(client, n);
    return server;
}

/* Says the port and runs until its input ends. */
static int serve(void)
{
    kc_auto(kc_embedded_server) *server = server_with(OBJECTS, -1);
    char byte;
    printf("%d\n", kc_embedded_server_port(server));
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    return 0;
}

typedef struct other {
    pid_t pid;
    int stop; /* Closing it ends the server. */
    int port;
} other;

static other start_other(const char *self)
{
    int in[2], out[2];
    other o = {0};
    if (pipe(in) < 0 || pipe(out) < 0 || (o.pid = fork()) < 0)
        die("start another process", NULL);
    if (o.pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        close(in[1]);
        close(out[0]);
        execl(self, self, "serve", NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    o.stop = in[1];
    FILE *said = fdopen(out[0], "r");
    if (!said || fscanf(said, "%d", &o.port) != 1)
        die("start a server", NULL);
    fclose(said);
    return o;
}

static void stop_other(other *o)
{
    close(o->stop);
    waitpid(o->pid, NULL, 0);
}

/* ---- measuring ---- */

static double seconds_since(int64_t start)
{
    return (double)(kc_clock_now(kc_clock_real()) - start) / (double)KC_SECOND;
}

static size_t resident(void)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*s %zu", &pages) != 1)
        die("read /proc/self/statm", NULL);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static int throw_away(kc_object *object, void *user, kc_error *err)
{
    (void)user;
    (void)err;
    kc_object_unref(object);
    return 0;
}

static double time_list(kc_client *client)
{
    kc_scoped(kc_error) err = {0};
    const int64_t start = kc_clock_now(kc_clock_real());
    if (kc_client_list_each(client, &kc_kind_config_map, &(kc_list_opts){.page = -1}, throw_away,
                            NULL, NULL, &err) < 0)
        die("list", &err);
    return seconds_since(start);
}

static kc_cache *synced_cache(kc_client *client, bool plain, double *ret_seconds)
{
    kc_scoped(kc_error) err = {0};
    const int64_t start = kc_clock_now(kc_clock_real());
    kc_cache *cache = kc_cache_new(&(kc_cache_opts){.client = client, .plain_lists = plain});
    kc_informer *informer = kc_cache_informer(cache, &kc_kind_config_map, &err);
    if (!informer || kc_cache_start(cache, &err) < 0 ||
        !kc_cache_wait_synced(cache, kc_clock_deadline(kc_clock_real(), KC_MINUTE), NULL))
        die("sync a cache", &err);
    *ret_seconds = seconds_since(start);
    return cache;
}

/* Bytes of the cached objects as JSON, and in memory. */
static size_t json_bytes(kc_cache *cache, size_t *ret_size)
{
    kc_object_list list = {0};
    size_t n = 0, size = 0, filled = 0;
    if (kc_cache_list(cache, &kc_kind_config_map, NULL, &list, NULL) < 0)
        die("list the cache", NULL);
    for (size_t i = 0; i < list.n; i++) {
        n += kc_object_json(list.items[i]).n;
        size += kc_object_size(list.items[i]);
        filled += kc_str_is(kc_object_namespace(list.items[i]), "default");
    }
    if (filled != OBJECTS) /* The server has ConfigMaps of its own in kube-system. */
        die("count the cached objects", NULL);
    kc_object_list_done(&list);
    *ret_size = size;
    return n;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *figures)
{
    qsort(figures, ROUNDS, sizeof(double), compare);
    return figures[ROUNDS / 2];
}

/* In turns: the list alone, a cache by a streamed list, a cache by plain ones. */
static void measure_time(const char *how, kc_client *client)
{
    double list[ROUNDS], streamed[ROUNDS], plain[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        list[i] = time_list(client);
        kc_cache_free(synced_cache(client, false, &streamed[i]));
        kc_cache_free(synced_cache(client, true, &plain[i]));
    }
    const double base = median(list);
    printf("%s: list thrown away %.0f ms; to a synced cache: streamed %.0f ms, plain %.0f ms\n",
           how, base * 1e3, median(streamed) * 1e3, median(plain) * 1e3);
    printf("%s: that is %.2f and %.2f of the list\n", how, streamed[ROUNDS / 2] / base,
           plain[ROUNDS / 2] / base);
}

/* A process that has done nothing else yet. */
static void measure_memory(kc_client *client)
{
    double seconds;
    const size_t before = resident();
    kc_auto(kc_cache) *cache = synced_cache(client, false, &seconds);
    const size_t after = resident();
    const struct mallinfo2 heap = mallinfo2();
    size_t objects;
    const size_t json = json_bytes(cache, &objects);
    printf(
        "memory: %.1f MB resident (%.1f MB before), JSON of %d objects %.1f MB, objects %.1f MB, "
        "heap %.1f MB (%.1f MB free in it)\n",
        (double)after / 1e6, (double)before / 1e6, OBJECTS, (double)json / 1e6,
        (double)objects / 1e6, (double)heap.uordblks / 1e6, (double)heap.fordblks / 1e6);
    bench_at_most("resident memory, to the JSON of the cached objects",
                  (double)after / (double)json, 1.3);
}

int main(int argc, char **argv)
{
    kc_scoped(kc_error) err = {0};
    if (argc > 1 && strcmp(argv[1], "serve") == 0)
        return serve();
    other o = start_other(argv[0]);
    kc_autofree char *url = kc_asprintf("http://127.0.0.1:%d", o.port);
    kc_auto(kc_config) *config = kc_config_for_url(url);
    kc_transport *transport = kc_transport_http_new(config, NULL, &err);
    if (!transport)
        die("make a transport", &err);
    kc_auto(kc_client) *client = kc_client_new(&(kc_client_opts){.transport = transport}, &err);
    if (!client)
        die("make a client", &err);
    measure_memory(client);
    measure_time("HTTP", client);
    stop_other(&o);
    kc_auto(kc_embedded_server) *server = server_with(OBJECTS, 0);
    kc_auto(kc_client) *inside = kc_embedded_server_client(server, &err);
    measure_time("embedded", inside);
    return bench_result();
}

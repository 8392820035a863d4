/* SPDX-License-Identifier: Apache-2.0 */
/*
 * garbage.c: one owner with very many dependents, deleted in each of the three ways: how long that
 * takes, what the collector's memory is at its most, what a node of its graph takes, and that the
 * cost of a dependent does not grow with their number.
 *
 *     bench_controllers_garbage [DEPENDENTS]        defaults to 100,000, and a quarter of it
 *
 * The server is a process of its own (this program again, as `serve`), so that the memory measured
 * is the collector's. It keeps its data in memory: what is measured is the collector, not a disk.
 */
#include "bench.h"

#include "kc/controllers.h"
#include "kc/embedded_server.h"
#include "kc/kinds.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEPENDENTS = 100000, WORKERS = 20 };

static void die(const char *what, const kc_error *err)
{
    fprintf(stderr, "bench garbage: %s: %s\n", what, kc_error_text(err));
    exit(2);
}

/* ---- a server that has them ---- */

static kc_object *make(kc_client *client, const char *text)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *object = kc_object_parse(kc_cstr(text), NULL, &err);
    kc_object *made = object ? kc_client_create(client, object, NULL, &err) : NULL;
    if (!made)
        die("create", &err);
    return made;
}

static void fill(kc_client *client, size_t n)
{
    kc_auto(kc_object) *owner =
        make(client, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"namespace\":"
                     "\"default\",\"name\":\"owner\"}}");
    for (size_t i = 0; i < n; i++) {
        kc_autofree char *text = kc_asprintf(
            "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"namespace\":\"default\","
            "\"name\":\"dependent-%zu\",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":"
            "\"ConfigMap\",\"name\":\"owner\",\"uid\":\"%.*s\",\"controller\":true,"
            "\"blockOwnerDeletion\":true}]}}",
            i, KC_ARG(kc_object_uid(owner)));
        kc_object_unref(make(client, text));
    }
}

/* Says the port and runs until its input ends. */
static int serve(size_t n)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_embedded_server) *server =
        kc_embedded_server_start(&(kc_embedded_server_opts){.port = -1}, &err);
    kc_auto(kc_client) *client = server ? kc_embedded_server_client(server, &err) : NULL;
    char byte;
    if (!client)
        die("start a server", &err);
    fill(client, n);
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

static other start_other(const char *self, size_t n)
{
    int in[2], out[2];
    other o = {0};
    kc_autofree char *count = kc_asprintf("%zu", n);
    if (pipe(in) < 0 || pipe(out) < 0 || (o.pid = fork()) < 0)
        die("start another process", NULL);
    if (o.pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        close(in[1]);
        close(out[0]);
        execl(self, self, "serve", count, NULL);
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

static double metric(kc_manager *manager, const char *name)
{
    kc_scoped(kc_buf) text = {0};
    kc_autofree char *start = kc_asprintf("\n%s ", name);
    kc_metrics_write(kc_manager_metrics(manager), &text);
    const char *line = strstr(kc_buf_cstr(&text), start);
    return line ? strtod(line + strlen(start), NULL) : 0;
}

static void wait_for_edges(kc_manager *manager, size_t n)
{
    const int64_t deadline = kc_clock_deadline(kc_clock_real(), 10 * KC_MINUTE);
    while ((size_t)metric(manager, "kc_garbage_collector_edges") != n) {
        if (kc_clock_now(kc_clock_real()) > deadline)
            die("wait for the graph", NULL);
        kc_clock_sleep(kc_clock_real(), 5 * KC_MILLISECOND);
    }
}

static void wait_for_owner(kc_client *client)
{
    for (;;) {
        kc_auto(kc_object) *owner =
            kc_client_get(client, &kc_kind_config_map, KC_KEY("default", "owner"),
                          &(kc_get_opts){.live = true}, NULL);
        if (!owner)
            return;
        kc_clock_sleep(kc_clock_real(), 5 * KC_MILLISECOND);
    }
}

static size_t count_secrets(kc_client *client)
{
    kc_scoped(kc_error) err = {0};
    kc_object_list list = {0};
    if (kc_client_list(client, &kc_kind_secret,
                       &(kc_list_opts){.ns = "default", .metadata_only = true, .live = true}, &list,
                       &err) < 0)
        die("list", &err);
    const size_t n = list.n;
    kc_object_list_done(&list);
    return n;
}

typedef struct figures {
    double seconds, node_bytes, peak_mb;
} figures;

static double peak_mb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

static figures collect(int port, size_t n, const char *propagation)
{
    kc_scoped(kc_error) err = {0};
    kc_autofree char *url = kc_asprintf("http://127.0.0.1:%d", port);
    kc_auto(kc_config) *config = kc_config_for_url(url);
    kc_auto(kc_log) *log = kc_log_new(&(kc_log_opts){.level = KC_LOG_ERROR});
    const kc_manager_opts opts = {.config = config, .log = log, .no_signal_handlers = true};
    kc_auto(kc_manager) *manager = kc_manager_new(&opts, &err);
    const kc_controllers_opts which = {.names = "garbagecollector", .workers = WORKERS};
    if (!manager || kc_controllers_add(manager, &which, &err) < 0 ||
        kc_manager_start(manager, &err) < 0)
        die("start", &err);
    wait_for_edges(manager, n);
    kc_client *client = kc_manager_live_client(manager);
    const double nodes = metric(manager, "kc_garbage_collector_nodes");
    figures f = {.node_bytes = metric(manager, "kc_garbage_collector_bytes") / nodes};
    const int64_t start = kc_clock_now(kc_clock_real());
    if (kc_client_delete(client, &kc_kind_config_map, KC_KEY("default", "owner"),
                         &(kc_delete_opts){.propagation = propagation}, &err) < 0)
        die("delete", &err);
    wait_for_edges(manager, 0);
    wait_for_owner(client);
    f.seconds = seconds_since(start);
    f.peak_mb = peak_mb();
    const size_t left = strcmp(propagation, "Orphan") == 0 ? n : 0;
    if (count_secrets(client) != left)
        die("not those that should be are left", NULL);
    kc_manager_stop(manager);
    kc_manager_wait(manager, NULL);
    return f;
}

/* In a process of its own, for its memory. */
static figures measure(const char *self, size_t n, const char *propagation)
{
    figures f = {0};
    int ends[2];
    other o = start_other(self, n);
    fflush(stdout);
    if (pipe(ends) < 0)
        die("make a pipe", NULL);
    const pid_t child = fork();
    if (child == 0) {
        f = collect(o.port, n, propagation);
        if (write(ends[1], &f, sizeof(f)) != sizeof(f))
            _exit(2);
        _exit(0);
    }
    close(ends[1]);
    if (read(ends[0], &f, sizeof(f)) != sizeof(f))
        die("measure", NULL);
    close(ends[0]);
    waitpid(child, NULL, 0);
    stop_other(&o);
    printf("%-10s of %6zu dependents: %5.1f s, %5.0f us each; %.0f MB at most; %.0f bytes a node\n",
           propagation, n, f.seconds, f.seconds * 1e6 / (double)n, f.peak_mb, f.node_bytes);
    return f;
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "serve") == 0)
        return serve(strtoul(argv[2], NULL, 10));
    const size_t many = argc > 1 ? strtoul(argv[1], NULL, 10) : DEPENDENTS, few = many / 4;
    static const char *const ways[] = {"Background", "Foreground", "Orphan"};
    for (size_t i = 0; i < KC_COUNT(ways); i++) {
        const figures small = measure(argv[0], few, ways[i]);
        const figures large = measure(argv[0], many, ways[i]);
        kc_autofree char *what =
            kc_asprintf("%s: a dependent of many to one of a quarter of them", ways[i]);
        bench_at_most(what, large.seconds / small.seconds / 4, 1.5);
        bench_at_most("bytes of a graph node and its references", large.node_bytes, 300);
    }
    return bench_result();
}

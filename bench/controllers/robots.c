/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robots.c: Robots, applied all at once, until the deployment of each shows 2/2: the server on a
 * folder, every write of it durable, all controllers with 100 simulated nodes, and the reconciler
 * robot, in one process, as `kc up` runs them.
 *
 *     how long it takes, and that a Robot among many takes as long as one among a quarter of them
 *     the most memory of the whole process, and what a Robot has of it
 *     what is written for a Robot, by kind and verb, beside what has to be
 *
 * Who applies them is 16 threads: without a socket, in the same process; or over HTTP, in a process
 * of its own. Each measurement has processes of its own too, so that memory can be told.
 *
 *     bench_controllers_robots [ROBOTS]        defaults to 10,000
 */
#include "bench.h"
#include "plane.h"

#include "kc/app.h"
#include "kc/kinds.h"
#include "kc/kubeconfig.h"
#include "kc/view.h"
#include "kc/yaml.h"

#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROBOTS = 10000, APPLIERS = 16 };

#define DEFINITION "manifests/robot/robot.llleon.io_robots.yaml"

/* What must be written until a Robot is at 2/2, and why: each is of another object, of another
 * author, or of another time. */
typedef struct need {
    const char *verb, *resource, *part;
    double n;
    const char *why;
} need;

static const need needs[] = {
    {"create", "robots", "", 1, "what is asked for"},
    {"create", "deployments", "", 1, "the robot's"},
    {"create", "replicasets", "", 1, "the deployment's"},
    {"create", "pods", "", 2, "the replica set's"},
    {"create", "pods", "binding", 2, "the scheduler has chosen a node"},
    {"update", "pods", "status", 2, "the node says that it runs and is ready"},
    {"patch", "replicasets", "status", 1, "both are ready"},
    {"update", "deployments", "status", 2, "it has begun, and so its deadline; both are ready"},
};

/* ---- who applies ---- */

typedef struct applying {
    kc_client *client;
    size_t n;
    atomic_size_t next;
} applying;

static void create_robot(kc_client *client, size_t i)
{
    kc_scoped(kc_error) err = {0};
    kc_autofree char *text = kc_asprintf(
        "{\"apiVersion\":\"robot.llleon.io/v1\",\"kind\":\"Robot\",\"metadata\":{\"namespace\":"
        "\"default\",\"name\":\"robot-%zu\"},\"spec\":{\"deploymentName\":\"robot-%zu\","
        "\"replicas\":2}}",
        i, i);
    kc_auto(kc_object) *wanted = kc_object_parse(kc_cstr(text), NULL, &err);
    kc_auto(kc_object) *made = wanted ? kc_client_create(client, wanted, NULL, &err) : NULL;
    if (!made)
        bench_die("create a Robot", &err);
}

static void apply_some(void *user)
{
    applying *a = user;
    for (size_t i; (i = atomic_fetch_add(&a->next, 1)) < a->n;)
        create_robot(a->client, i);
}

static void apply_all(kc_client *client, size_t n)
{
    applying a = {.client = client, .n = n};
    kc_thread *threads[APPLIERS];
    for (size_t i = 0; i < APPLIERS; i++)
        threads[i] = kc_thread_start("apply", apply_some, &a, NULL);
    for (size_t i = 0; i < APPLIERS; i++)
        kc_thread_join(threads[i]);
}

/* A process that waits for the number of a port, and applies all there. Begun before anything else
 * is: a process with threads does not fork well. */
typedef struct applier {
    pid_t process;
    int port;
} applier;

static _Noreturn void apply_over_http(int from, size_t n)
{
    kc_scoped(kc_error) err = {0};
    int port = 0;
    if (read(from, &port, sizeof(port)) != sizeof(port))
        _exit(0);
    kc_autofree char *url = kc_asprintf("http://127.0.0.1:%d", port);
    kc_auto(kc_config) *config = kc_config_for_url(url);
    kc_auto(kc_client) *client = kc_client_new(&(kc_client_opts){.config = config}, &err);
    if (!client)
        bench_die("connect", &err);
    apply_all(client, n);
    _exit(0);
}

static applier applier_begin(size_t n)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        bench_die("pipe", NULL);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        apply_over_http(ends[0], n);
    }
    close(ends[0]);
    return (applier){child, ends[1]};
}

static void applier_apply(applier *a, const bench_plane *p)
{
    const int port = kc_embedded_server_port(p->server);
    int status = 0;
    if (write(a->port, &port, sizeof(port)) != sizeof(port))
        bench_die("tell the port", NULL);
    waitpid(a->process, &status, 0);
    close(a->port);
    if (status)
        bench_die("apply over HTTP", NULL);
}

/* ---- the plane ---- */

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *where)
{
    (void)about;
    (void)type;
    (void)where;
    return remove(path);
}

static void read_definition(kc_buf *out)
{
    FILE *file = fopen(DEFINITION, "re");
    char *to = kc_buf_reserve(out, 1 << 16);
    out->n += file ? fread(to, 1, 1 << 16, file) : 0;
    if (!file || !out->n)
        bench_die("read " DEFINITION " (run it in the project's folder)", NULL);
    fclose(file);
}

static void create_definition(kc_client *client)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) yaml = {0};
    kc_scoped(kc_buf) json = {0};
    read_definition(&yaml);
    kc_auto(kc_view) *view = kc_yaml_parse(kc_buf_str(&yaml), NULL, &err);
    if (view)
        kc_json_write(&json, kc_view_root(view));
    kc_auto(kc_object) *wanted = view ? kc_object_parse(kc_buf_str(&json), NULL, &err) : NULL;
    kc_auto(kc_object) *made = wanted ? kc_client_create(client, wanted, NULL, &err) : NULL;
    if (!made)
        bench_die("create the definition", &err);
    while (!kc_client_kind(
        client, (kc_gvk){KC_STR("robot.llleon.io"), KC_STR("v1"), KC_STR("Robot")}, NULL))
        kc_clock_sleep(kc_clock_real(), 10 * KC_MILLISECOND);
}

static int add_robots(kc_manager *manager, kc_error *err)
{
    return kc_reconcilers_add(manager, "robot", err);
}

static bool is_ready(const bench_plane *p, int64_t i)
{
    kc_autofree char *name = kc_asprintf("robot-%" PRId64, i);
    kc_auto(kc_object) *deployment = kc_client_get(
        kc_manager_client(p->manager), &kc_kind_deployment, KC_KEY("default", name), NULL, NULL);
    kc_auto(kc_view) *view = deployment ? kc_view_of(deployment) : NULL;
    return view &&
           kc_value_as_i64_or(kc_value_nested(kc_view_root(view), "status.readyReplicas"), 0) == 2;
}

/* So many are at 2/2, from the first on. Goes on where it stood: one that was will be, and looking
 * at all of them each time would be work of its own. */
static int64_t ready(const bench_plane *p)
{
    static int64_t seen;
    while (is_ready(p, seen))
        seen++;
    return seen;
}

/* ---- what was written ---- */

static const need *need_of(const calls_row *row)
{
    static const need none = {.why = ""};
    for (size_t i = 0; i < KC_COUNT(needs); i++)
        if (calls_match(row, needs[i].verb, needs[i].resource, needs[i].part))
            return &needs[i];
    return &none;
}

static void report_calls(const calls *all, double robots)
{
    double least = 0;
    printf("    %-32s %6s %6s\n", "calls of a Robot", "were", "must");
    for (size_t i = 0; i < all->n; i++) {
        const calls_row *row = &all->rows[i];
        if (row->n < robots / 100)
            continue;
        kc_autofree char *what =
            kc_asprintf("%s%s%s", row->resource, *row->part ? "/" : "", row->part);
        const need *n = need_of(row);
        least += n->n;
        printf("    %-7s %-24s %6.2f %6.0f  %s\n", row->verb, what, row->n / robots, n->n, n->why);
    }
    printf("    %-32s %6.2f %6.0f\n", "writes, events apart", (double)calls_writes(all) / robots,
           least);
}

/* ---- a measurement ---- */

/* Of one Robot. */
typedef struct figures {
    double wall, processor; /* Microseconds. */
    double writes;
} figures;

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

/* Of this process alone: who applies over HTTP is another. */
static double processor_time(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

static double time_now(void)
{
    return (double)kc_clock_now(kc_clock_real()) / (double)KC_SECOND;
}

/* Events that were not written: too many waited already. */
static double events_dropped(const bench_plane *p)
{
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(kc_manager_metrics(p->manager), &text);
    const char *at = strstr(kc_buf_cstr(&text), "\nkc_events_dropped_total ");
    return at ? strtod(strchr(at, ' '), NULL) : 0;
}

static figures run(bench_plane *p, size_t n, applier *http)
{
    const double memory = bench_resident(), processor = processor_time(), start = time_now();
    const calls before = calls_of(p->metrics);
    if (http)
        applier_apply(http, p);
    else
        apply_all(p->client, n);
    const double applied = time_now() - start;
    bench_plane_wait(p, ready, (int64_t)n);
    const double each = 1e6 / (double)n, took = time_now() - start;
    const calls all = calls_since(&before, p->metrics);
    const figures f = {took * each, (processor_time() - processor) * each,
                       (double)calls_writes(&all) / (double)n};
    printf("%5zu Robots, applied %s in %.1f s: all at 2/2 after %.1f s, %.0f us each, %.0f us of "
           "processor time; %.0f MB at most, %.1f KB each (%.0f MB of it pages of files)\n",
           n, http ? "over HTTP" : "in process", applied, took, f.wall, f.processor,
           bench_most_resident() / 1e6, (bench_most_resident() - memory) / 1e3 / (double)n,
           bench_resident_of_files() / 1e6);
    report_calls(&all, (double)n);
    printf("    %-32s %6.2f\n", "events dropped", events_dropped(p) / (double)n);
    return f;
}

static figures measure(size_t n, bool over_http)
{
    bench_plane p;
    char folder[] = "bench-robots-XXXXXX";
    applier http = over_http ? applier_begin(n) : (applier){0};
    if (!mkdtemp(folder))
        bench_die("make a folder", NULL);
    bench_plane_open(&p, &(bench_plane_opts){.dir = folder,
                                             .listens = over_http,
                                             .prepare = create_definition,
                                             .add = add_robots});
    const figures f = run(&p, n, over_http ? &http : NULL);
    bench_plane_close(&p);
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return f;
}

static figures measure_apart(size_t n, bool over_http)
{
    int ends[2];
    figures f = {0};
    fflush(stdout);
    if (pipe2(ends, O_CLOEXEC) < 0)
        bench_die("pipe", NULL);
    const pid_t child = fork();
    if (child == 0) {
        f = measure(n, over_http);
        fflush(stdout);
        _exit(write(ends[1], &f, sizeof(f)) != sizeof(f));
    }
    close(ends[1]);
    if (read(ends[0], &f, sizeof(f)) != sizeof(f))
        exit(2);
    close(ends[0]);
    waitpid(child, NULL, 0);
    return f;
}

int main(int argc, char **argv)
{
    const size_t many = argc > 1 ? strtoul(argv[1], NULL, 10) : ROBOTS;
    const figures few = measure_apart(many / 4, false), all = measure_apart(many, false);
    printf("  time of a Robot among all, to one among a quarter: %.2f\n", all.wall / few.wall);
    bench_at_most("CPU time of a Robot among all, to one among a quarter",
                  all.processor / few.processor, 1.3);
    bench_at_most("writes per Robot, without Events", all.writes, 14);
    measure_apart(many, true);
    return bench_result();
}

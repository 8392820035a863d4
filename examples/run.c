/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c: runs an example against an API server in this process, and executes a file of steps:
 *
 *     create OBJECT              creates an object, as JSON on the line
 *     load FILE                  creates the objects of a YAML file; waits for CRDs
 *     patch KIND NS NAME PATCH   applies a JSON merge patch
 *     delete KIND NS NAME        deletes an object; "-" for no namespace
 *     see KIND NS NAME TEXT      waits until its JSON contains the text
 *     find KIND NS TEXT          waits until the JSON of any object there does
 *     gone KIND NS NAME          waits until it does not exist
 *     post PATH TEXT BODY        calls its webhooks; the response must contain the text
 *     expect TEXT                waits until the program has printed a line with the text; earlier
 *                                lines are skipped and not matched again
 *     stop                       sends SIGTERM
 *
 * The program finds the server through KUBECONFIG, and an address for webhooks in WEBHOOK_ADDRESS.
 * It must exit with 0 after `stop`, or by itself. The time limit is one minute. It runs in the
 * directory of the steps.
 */
#include "free_port.h"

#include "kc/codec.h"
#include "kc/embedded_server.h"
#include "kc/kinds.h"
#include "kc/wait.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct play {
    kc_client *client;
    pid_t program;
    int output;    /* Its output. */
    int port;      /* A free port for its webhooks. */
    kc_buf unread; /* Of that. */
    int64_t deadline;
    kc_error *err; /* The current step. */
} play;

/* ---- the program ---- */

static int write_kubeconfig(const char *path, int port, kc_error *err)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return kc_error_set(err, KC_INTERNAL, "open %s: %s", path, strerror(errno));
    fprintf(file,
            "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
            "clusters: [{name: s, cluster: {server: 'http://127.0.0.1:%d'}}]\n"
            "users: [{name: u, user: {}}]\n"
            "contexts: [{name: c, context: {cluster: s, user: u}}]\n",
            port);
    fclose(file);
    return 0;
}

static int start(play *p, const char *program, const char *kubeconfig, kc_error *err)
{
    int ends[2];
    kc_autofree char *webhook_address = kc_asprintf("127.0.0.1:%d", p->port);
    if (pipe(ends) < 0)
        return kc_error_set(err, KC_INTERNAL, "pipe: %s", strerror(errno));
    p->program = fork();
    if (p->program == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        setenv("KUBECONFIG", kubeconfig, 1);
        setenv("WEBHOOK_ADDRESS", webhook_address, 1);
        execl(program, program, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    p->output = ends[0];
    return p->program > 0 ? 0 : kc_error_set(err, KC_INTERNAL, "fork: %s", strerror(errno));
}

/* Reads more of its output; negative at its end, or at the deadline. */
static int read_more(play *p)
{
    int64_t left = p->deadline - kc_clock_now(kc_clock_real());
    struct pollfd ready = {.fd = p->output, .events = POLLIN};
    const int found = left <= 0 ? 0 : poll(&ready, 1, (int)(left / KC_MILLISECOND) + 1);
    if (found < 0 && errno == EINTR)
        return 0;
    if (found <= 0)
        return -1;
    ssize_t n = read(p->output, kc_buf_reserve(&p->unread, 4096), 4096);
    if (n <= 0)
        return -1;
    p->unread.n += (size_t)n;
    return 0;
}

/* ---- steps ---- */

static int expect(play *p, kc_str text, kc_error *err)
{
    for (;;) {
        ptrdiff_t end = kc_str_find(kc_buf_str(&p->unread), '\n');
        if (end < 0 && read_more(p) < 0)
            return kc_error_set(err, KC_TIMEOUT, "output \"%.*s\" not found", KC_ARG(text));
        if (end < 0)
            continue;
        kc_str line = kc_str_sub(kc_buf_str(&p->unread), 0, (size_t)end);
        bool found = kc_str_contains(line, text);
        printf("    %.*s\n", KC_ARG(line));
        p->unread.n -= (size_t)end + 1;
        memmove(p->unread.p, p->unread.p + end + 1, p->unread.n);
        if (found)
            return 0;
    }
}

static int create(play *p, kc_str json, kc_error *err)
{
    kc_auto(kc_object) *object = kc_object_parse(json, NULL, err);
    kc_auto(kc_object) *created = object ? kc_client_create(p->client, object, NULL, err) : NULL;
    return created ? 0 : kc_error_result(err);
}

/* Parses "KIND NS NAME"; the kind may be a resource or a short name. */
static const kc_kind *cut_key(play *p, kc_str *rest, kc_key *ret, kc_error *err)
{
    kc_autofree char *kind = kc_str_dup(kc_str_cut(rest, ' '));
    for (char *c = kind; *c; c++)
        *c = (char)(*c >= 'A' && *c <= 'Z' ? *c + 32 : *c);
    kc_str ns = kc_str_cut(rest, ' ');
    *ret = (kc_key){kc_str_is(ns, "-") ? (kc_str){0} : ns, kc_str_cut(rest, ' ')};
    return kc_client_kind_of_resource(p->client, kc_cstr(kind), err);
}

static int patch(play *p, kc_str rest, kc_error *err)
{
    kc_key key;
    const kc_kind *kind = cut_key(p, &rest, &key, err);
    kc_auto(kc_object) *now =
        kind ? kc_client_patch(p->client, kind, key, KC_PATCH_MERGE, rest, NULL, err) : NULL;
    return now ? 0 : kc_error_result(err);
}

static int delete(play *p, kc_str rest, kc_error *err)
{
    kc_key key;
    const kc_kind *kind = cut_key(p, &rest, &key, err);
    return kind
               ? kc_client_delete(p->client, kind, key, &(kc_delete_opts){.immediately = true}, err)
               : kc_error_result(err);
}

/* ---- files ---- */

static int load_one(kc_object *object, void *user)
{
    play *p = user;
    kc_auto(kc_object) *given = object;
    kc_auto(kc_client) *in_default =
        kc_client_with(p->client, &(kc_client_overrides){.ns = "default"});
    kc_auto(kc_object) *now = kc_client_create(in_default, given, NULL, p->err);
    bool defines = now && kc_str_is(kc_object_kind(now), "CustomResourceDefinition");
    if (!defines)
        return now ? 0 : -1;
    return kc_wait_for(p->client, &kc_kind_custom_resource_definition, kc_object_key(now),
                       kc_until_condition, "Established", KC_MINUTE, NULL, p->err);
}

static int load(play *p, kc_str path, kc_error *err)
{
    kc_autofree char *name = kc_str_dup(path);
    FILE *file = fopen(name, "r");
    if (!file)
        return kc_error_set(err, KC_NOT_FOUND, "%s: %s", name, strerror(errno));
    kc_scoped(kc_buf) text = {0};
    size_t n;
    while ((n = fread(kc_buf_reserve(&text, 4096), 1, 4096, file)) > 0)
        text.n += n;
    fclose(file);
    p->err = err;
    return kc_codec_yaml.decode(kc_buf_str(&text), NULL, load_one, p, err);
}

/* ---- checks ---- */

static bool holds(const kc_object *object, const void *text)
{
    return object && kc_str_contains(kc_object_json(object), *(const kc_str *)text);
}

static int64_t left(const play *p)
{
    return KC_MAX(1, p->deadline - kc_clock_now(kc_clock_real()));
}

static int see(play *p, kc_str rest, kc_error *err)
{
    kc_key key;
    const kc_kind *kind = cut_key(p, &rest, &key, err);
    return kind ? kc_wait_for(p->client, kind, key, holds, &rest, left(p), NULL, err)
                : kc_error_result(err);
}

static int gone(play *p, kc_str rest, kc_error *err)
{
    kc_key key;
    const kc_kind *kind = cut_key(p, &rest, &key, err);
    return kind ? kc_wait_for(p->client, kind, key, kc_until_gone, NULL, left(p), NULL, err)
                : kc_error_result(err);
}

static int find(play *p, kc_str rest, kc_error *err)
{
    kc_str kind_name = kc_str_cut(&rest, ' ');
    kc_autofree char *ns = kc_str_dup(kc_str_cut(&rest, ' '));
    const kc_kind *kind = kc_client_kind_of_resource(p->client, kind_name, err);
    kc_auto(kc_watch) *watch =
        kind ? kc_client_watch(p->client, kind, &(kc_watch_opts){.ns = ns}, err) : NULL;
    for (bool found = false; watch && !found;) {
        kc_scoped(kc_watch_event) event = {0};
        if (kc_watch_next(watch, p->deadline, &event, err) <= 0)
            return kc_error_result(err);
        found = holds(event.object, &rest);
    }
    return watch ? 0 : kc_error_result(err);
}

static int post(play *p, kc_str rest, kc_error *err)
{
    kc_str path = kc_str_cut(&rest, ' '), text = kc_str_cut(&rest, ' ');
    kc_autofree char *url = kc_asprintf("https://127.0.0.1:%d", p->port);
    const kc_config config = {.server = url, .insecure = true};
    kc_auto(kc_client) *to = kc_client_new(&(kc_client_opts){.config = &config}, err);
    kc_scoped(kc_buf) answer = {0};
    if (!to || kc_client_raw(to, "POST", path, KC_STR("application/json"), rest, &answer, err) < 0)
        return kc_error_result(err);
    printf("    %.*s\n", KC_ARG(kc_buf_str(&answer)));
    if (kc_str_contains(kc_buf_str(&answer), text))
        return 0;
    return kc_error_set(err, KC_UNKNOWN, "the response does not contain %.*s", KC_ARG(text));
}

static int stop(play *p, kc_str rest, kc_error *err)
{
    (void)rest;
    (void)err;
    return kill(p->program, SIGTERM);
}

static int do_step(play *p, kc_str line, kc_error *err)
{
    static const struct {
        const char *name;
        int (*run)(play *p, kc_str rest, kc_error *err);
    } steps[] = {
        {"create", create}, {"load", load}, {"patch", patch},   {"delete", delete}, {"see", see},
        {"find", find},     {"gone", gone}, {"expect", expect}, {"post", post},     {"stop", stop},
    };
    kc_str rest = line, name = kc_str_cut(&rest, ' ');
    if (!name.n || name.p[0] == '#')
        return 0;
    printf("%.*s\n", KC_ARG(line));
    for (size_t i = 0; i < KC_COUNT(steps); i++)
        if (kc_str_is(name, steps[i].name))
            return steps[i].run(p, rest, err);
    return kc_error_set(err, KC_BAD_REQUEST, "unknown step \"%.*s\"", KC_ARG(name));
}

static int play_file(play *p, const char *path, kc_error *err)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t cap = 0;
    int result = file ? 0 : kc_error_set(err, KC_NOT_FOUND, "%s: %s", path, strerror(errno));
    while (result == 0 && getline(&line, &cap, file) > 0)
        result = do_step(p, kc_str_trim(kc_cstr(line)), err);
    free(line);
    if (file)
        fclose(file);
    return result;
}

/* ---- main ---- */

static int end_of(play *p, bool failed, kc_error *err)
{
    int status = 0;
    while (!failed && read_more(p) == 0)
        ;
    if (failed || kc_clock_now(kc_clock_real()) >= p->deadline)
        kill(p->program, SIGKILL);
    waitpid(p->program, &status, 0);
    if (failed || status == 0)
        return failed ? kc_error_result(err) : 0;
    return kc_error_set(err, KC_INTERNAL, "exited with status %#x", (unsigned)status);
}

static int run(const char *program, const char *steps, const char *dir, kc_error *err)
{
    kc_auto(kc_embedded_server) *server =
        kc_embedded_server_start(&(kc_embedded_server_opts){.port = -1}, err);
    kc_auto(kc_client) *client = server ? kc_embedded_server_client(server, err) : NULL;
    kc_autofree char *kubeconfig = kc_asprintf("%s/kubeconfig", dir);
    play p = {.client = client,
              .port = free_port(),
              .deadline = kc_clock_deadline(kc_clock_real(), KC_MINUTE)};
    if (!client || write_kubeconfig(kubeconfig, kc_embedded_server_port(server), err) < 0 ||
        start(&p, program, kubeconfig, err) < 0)
        return kc_error_result(err);
    int result = end_of(&p, play_file(&p, steps, err) < 0, err);
    kc_buf_done(&p.unread);
    close(p.output);
    unlink(kubeconfig);
    return result;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: example_run PROGRAM STEPS\n");
        return 2;
    }
    kc_scoped(kc_error) err = {0};
    char dir[] = "/tmp/kc-example-XXXXXX";
    int result = mkdtemp(dir) ? run(argv[1], argv[2], dir, &err) : -1;
    rmdir(dir);
    if (result < 0)
        fprintf(stderr, "%s: %s\n", argv[2], kc_error_text(&err));
    return result < 0;
}

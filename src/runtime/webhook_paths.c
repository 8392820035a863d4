/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_paths.c: what a webhook server serves, by path. Hooks, and the kinds that /convert knows,
 * are only ever added: whoever has found one may use it without a lock.
 */
#include "kc/ascii.h"
#include "runtime/webhook_internal.h"

enum { MAX_PATHS = 1000 };

#define LABEL {"webhook", .max_values = MAX_PATHS}

/* ---- hooks ---- */

static void add_metrics(kc__hook *hook, kc_metrics *registry)
{
    double buckets[12];
    kc_buckets_exponential(10e-9, 10, KC_COUNT(buckets), buckets);
    const kc_str path = kc_cstr(hook->path);
    const kc_metric_opts requests = {
        .name = "controller_runtime_webhook_requests_total",
        .help = "Total number of admission requests by HTTP status code.",
        .labels = {LABEL, {"code", KC_LABEL_VALUES("200", "400", "500")}}};
    const kc_metric_opts latency = {.name = "controller_runtime_webhook_latency_seconds",
                                    .help =
                                        "Histogram of the latency of processing admission requests",
                                    .labels = {LABEL},
                                    .buckets = buckets,
                                    .n_buckets = KC_COUNT(buckets)};
    const kc_metric_opts in_flight = {.name = "controller_runtime_webhook_requests_in_flight",
                                      .help = "Current number of admission requests being served.",
                                      .labels = {LABEL}};
    const kc_metric_opts panics = {.name = "controller_runtime_webhook_panics_total",
                                   .help = "Total number of webhook panics"};
    hook->requests = kc_metrics_counter(registry, &requests, NULL);
    kc_counter_of(hook->requests, path, KC_STR("200"));
    kc_counter_of(hook->requests, path, KC_STR("500"));
    hook->latency = kc_histogram_of(kc_metrics_histogram(registry, &latency, NULL), path);
    hook->in_flight = kc_gauge_of(kc_metrics_gauge(registry, &in_flight, NULL), path);
    hook->panics = kc_counter_of(kc_metrics_counter(registry, &panics, NULL));
}

static void hook_free(kc__hook *hook)
{
    for (kc__converter *c = atomic_load(&hook->converters), *next; c; c = next) {
        next = c->next;
        free(c->group);
        free(c->kind);
        free(c);
    }
    free(hook->path);
    free(hook);
}

/* With the mutex held. */
static kc__hook *find(const kc_webhook_server *s, kc_str path)
{
    kc_vec_each (&s->hooks, hook)
        if (kc_str_is(path, (*hook)->path))
            return *hook;
    return NULL;
}

const kc__hook *kc__webhook_find(kc_webhook_server *s, kc_str path)
{
    const kc__hook *hook = NULL;
    kc_locked (&s->mutex)
        hook = find(s, path);
    return hook;
}

void kc__webhook_forget_all(kc_webhook_server *s)
{
    kc_vec_each (&s->hooks, hook)
        hook_free(*hook);
    kc_vec_done(&s->hooks);
}

/* With the mutex held. Copies it. */
static kc__hook *enter(kc_webhook_server *s, const kc__hook *wanted)
{
    kc__hook *hook = kc_new(kc__hook);
    hook->path = kc_strdup(wanted->path);
    hook->serve = wanted->serve;
    hook->user = wanted->user;
    hook->admit = wanted->admit;
    hook->set_defaults = wanted->set_defaults;
    hook->validate = wanted->validate;
    hook->kind = wanted->kind;
    add_metrics(hook, s->metrics);
    kc_vec_push(&s->hooks, hook);
    return hook;
}

static int add(kc_webhook_server *s, const kc__hook *wanted, kc_error *err)
{
    bool taken = false;
    if (wanted->path[0] != '/')
        return kc_error_set(err, KC_BAD_REQUEST, "%s is not a path: it begins with /",
                            wanted->path);
    kc_locked (&s->mutex) {
        taken = find(s, kc_cstr(wanted->path));
        if (!taken)
            enter(s, wanted);
    }
    return taken ? kc_error_set(err, KC_ALREADY_EXISTS, "there is a webhook at %s already",
                                wanted->path)
                 : 0;
}

/* ---- admission ---- */

int kc_webhook_handle(kc_webhook_server *server, const char *path, kc_admit_fn *admit, void *user,
                      kc_error *err)
{
    const kc__hook hook = {
        .path = (char *)path, .serve = kc__serve_admission, .user = user, .admit = admit};
    return add(server, &hook, err);
}

/* "/mutate-apps-v1-deployment"; the core group is empty: "/mutate--v1-pod". */
static char *path_of(const char *verb, const kc_kind *kind)
{
    char *path = kc_asprintf("/%s-%s-%s-%s", verb, kind->group ? kind->group : "", kind->version,
                             kind->kind);
    for (char *c = path; *c; c++)
        *c = *c == '.' ? '-' : kc_lower(*c);
    return path;
}

int kc_webhook_default_at(kc_webhook_server *server, const char *path, const kc_kind *kind,
                          kc_default_fn *fn, void *user, kc_error *err)
{
    const kc__hook hook = {.path = (char *)path,
                           .serve = kc__serve_admission,
                           .user = user,
                           .set_defaults = fn,
                           .kind = kind};
    return add(server, &hook, err);
}

int kc_webhook_validate_at(kc_webhook_server *server, const char *path, const kc_kind *kind,
                           kc_validate_fn *fn, void *user, kc_error *err)
{
    const kc__hook hook = {.path = (char *)path,
                           .serve = kc__serve_admission,
                           .user = user,
                           .validate = fn,
                           .kind = kind};
    return add(server, &hook, err);
}

int kc_webhook_default(kc_webhook_server *server, const kc_kind *kind, kc_default_fn *fn,
                       void *user, kc_error *err)
{
    kc_autofree char *path = path_of("mutate", kind);
    return kc_webhook_default_at(server, path, kind, fn, user, err);
}

int kc_webhook_validate(kc_webhook_server *server, const kc_kind *kind, kc_validate_fn *fn,
                        void *user, kc_error *err)
{
    kc_autofree char *path = path_of("validate", kind);
    return kc_webhook_validate_at(server, path, kind, fn, user, err);
}

/* ---- conversion ---- */

static bool has_converter(const kc__hook *hook, kc_group_kind kind)
{
    for (const kc__converter *c = atomic_load(&hook->converters); c; c = c->next)
        if (kc_str_is(kind.group, c->group) && kc_str_is(kind.kind, c->kind))
            return true;
    return false;
}

static void add_converter(kc__hook *hook, kc_group_kind kind, kc_convert_fn *fn, void *user)
{
    kc__converter *c = kc_new(kc__converter);
    c->group = kc_str_dup(kind.group);
    c->kind = kc_str_dup(kind.kind);
    c->convert = fn;
    c->user = user;
    c->next = atomic_load(&hook->converters);
    atomic_store(&hook->converters, c);
}

int kc_webhook_convert(kc_webhook_server *server, kc_group_kind kind, kc_convert_fn *fn, void *user,
                       kc_error *err)
{
    const kc__hook wanted = {.path = (char *)"/convert", .serve = kc__serve_conversion};
    bool taken = false;
    kc_locked (&server->mutex) {
        kc__hook *hook = find(server, KC_STR("/convert"));
        taken = hook && (hook->serve != kc__serve_conversion || has_converter(hook, kind));
        if (!taken)
            add_converter(hook ? hook : enter(server, &wanted), kind, fn, user);
    }
    return taken ? kc_error_set(err, KC_ALREADY_EXISTS,
                                "there is a conversion of %.*s.%.*s, or a webhook at /convert, "
                                "already",
                                KC_ARG(kind.kind), KC_ARG(kind.group))
                 : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.c: the hooks of a webhook server, by path. Hooks, and the kinds of /convert, are only added
 * and never removed, so a hook that was found can be used without a lock.
 */
#include "kc/ascii.h"
#include "runtime/webhook/webhook_internal.h"

enum { MAX_PATHS = 1000 };

#define LABEL {"webhook", .max_values = MAX_PATHS}

/* ---- hooks ---- */

static void add_metrics(kc__webhook_handler *hook, kc_metrics *registry)
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
    kc_metric_counter(hook->requests, path, KC_STR("200"));
    kc_metric_counter(hook->requests, path, KC_STR("500"));
    hook->latency = kc_metric_histogram(kc_metrics_histogram(registry, &latency, NULL), path);
    hook->in_flight = kc_metric_gauge(kc_metrics_gauge(registry, &in_flight, NULL), path);
    hook->panics = kc_metric_counter(kc_metrics_counter(registry, &panics, NULL));
}

static void hook_free(kc__webhook_handler *hook)
{
    for (kc__webhook_converter *c = atomic_load(&hook->converters), *next; c; c = next) {
        next = c->next;
        free(c->group);
        free(c->kind);
        free(c);
    }
    free(hook->path);
    free(hook);
}

/* Call it with the mutex held. */
static kc__webhook_handler *webhook_paths_find(const kc_webhook_server *s, kc_str path)
{
    kc_vec_each (&s->hooks, hook)
        if (kc_str_is(path, (*hook)->path))
            return *hook;
    return NULL;
}

const kc__webhook_handler *kc__webhook_find(kc_webhook_server *s, kc_str path)
{
    const kc__webhook_handler *hook = NULL;
    kc_locked (&s->mutex)
        hook = webhook_paths_find(s, path);
    return hook;
}

void kc__webhook_remove_all(kc_webhook_server *s)
{
    kc_vec_each (&s->hooks, hook)
        hook_free(*hook);
    kc_vec_done(&s->hooks);
}

/* Call it with the mutex held. Copies the hook. */
static kc__webhook_handler *webhook_paths_enter(kc_webhook_server *s,
                                                const kc__webhook_handler *wanted)
{
    kc__webhook_handler *hook = kc_new(kc__webhook_handler);
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

static int webhook_paths_add(kc_webhook_server *s, const kc__webhook_handler *wanted, kc_error *err)
{
    bool taken = false;
    if (wanted->path[0] != '/')
        return kc_error_set(err, KC_BAD_REQUEST, "%s is not a path: it must begin with '/'",
                            wanted->path);
    kc_locked (&s->mutex) {
        taken = webhook_paths_find(s, kc_cstr(wanted->path));
        if (!taken)
            webhook_paths_enter(s, wanted);
    }
    return taken ? kc_error_set(err, KC_ALREADY_EXISTS, "a webhook is already registered at %s",
                                wanted->path)
                 : 0;
}

/* ---- admission ---- */

int kc_webhook_add_handler(kc_webhook_server *server, const char *path, kc_webhook_admit_fn *admit,
                           void *user, kc_error *err)
{
    const kc__webhook_handler hook = {
        .path = (char *)path, .serve = kc__webhook_serve_admission, .user = user, .admit = admit};
    return webhook_paths_add(server, &hook, err);
}

/* "/mutate-apps-v1-deployment"; the core group is empty: "/mutate--v1-pod". */
static char *webhook_paths_path_of(const char *verb, const kc_kind *kind)
{
    char *path = kc_asprintf("/%s-%s-%s-%s", verb, kind->group ? kind->group : "", kind->version,
                             kind->kind);
    for (char *c = path; *c; c++)
        *c = *c == '.' ? '-' : kc_lower(*c);
    return path;
}

int kc_webhook_add_defaulter_at(kc_webhook_server *server, const char *path, const kc_kind *kind,
                                kc_webhook_default_fn *fn, void *user, kc_error *err)
{
    const kc__webhook_handler hook = {.path = (char *)path,
                                      .serve = kc__webhook_serve_admission,
                                      .user = user,
                                      .set_defaults = fn,
                                      .kind = kind};
    return webhook_paths_add(server, &hook, err);
}

int kc_webhook_add_validator_at(kc_webhook_server *server, const char *path, const kc_kind *kind,
                                kc_webhook_validate_fn *fn, void *user, kc_error *err)
{
    const kc__webhook_handler hook = {.path = (char *)path,
                                      .serve = kc__webhook_serve_admission,
                                      .user = user,
                                      .validate = fn,
                                      .kind = kind};
    return webhook_paths_add(server, &hook, err);
}

int kc_webhook_add_defaulter(kc_webhook_server *server, const kc_kind *kind,
                             kc_webhook_default_fn *fn, void *user, kc_error *err)
{
    kc_autofree char *path = webhook_paths_path_of("mutate", kind);
    return kc_webhook_add_defaulter_at(server, path, kind, fn, user, err);
}

int kc_webhook_add_validator(kc_webhook_server *server, const kc_kind *kind,
                             kc_webhook_validate_fn *fn, void *user, kc_error *err)
{
    kc_autofree char *path = webhook_paths_path_of("validate", kind);
    return kc_webhook_add_validator_at(server, path, kind, fn, user, err);
}

/* ---- conversion ---- */

static bool has_converter(const kc__webhook_handler *hook, kc_group_kind kind)
{
    for (const kc__webhook_converter *c = atomic_load(&hook->converters); c; c = c->next)
        if (kc_str_is(kind.group, c->group) && kc_str_is(kind.kind, c->kind))
            return true;
    return false;
}

static void add_converter(kc__webhook_handler *hook, kc_group_kind kind, kc_webhook_convert_fn *fn,
                          void *user)
{
    kc__webhook_converter *c = kc_new(kc__webhook_converter);
    c->group = kc_str_dup(kind.group);
    c->kind = kc_str_dup(kind.kind);
    c->convert = fn;
    c->user = user;
    c->next = atomic_load(&hook->converters);
    atomic_store(&hook->converters, c);
}

int kc_webhook_add_converter(kc_webhook_server *server, kc_group_kind kind,
                             kc_webhook_convert_fn *fn, void *user, kc_error *err)
{
    const kc__webhook_handler wanted = {.path = (char *)"/convert",
                                        .serve = kc__webhook_serve_conversion};
    bool taken = false;
    kc_locked (&server->mutex) {
        kc__webhook_handler *hook = webhook_paths_find(server, KC_STR("/convert"));
        taken = hook && (hook->serve != kc__webhook_serve_conversion || has_converter(hook, kind));
        if (!taken)
            add_converter(hook ? hook : webhook_paths_enter(server, &wanted), kind, fn, user);
    }
    return taken ? kc_error_set(
                       err, KC_ALREADY_EXISTS,
                       "a conversion of %.*s.%.*s, or a webhook at /convert, is already registered",
                       KC_ARG(kind.kind), KC_ARG(kind.group))
                 : 0;
}

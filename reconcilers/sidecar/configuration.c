/* SPDX-License-Identifier: Apache-2.0 */
/*
 * configuration.c: maintains the MutatingWebhookConfiguration that registers the hook.
 *
 * It has two entries: one selects pods of the rule by their labels (an objectSelector); annotations
 * are visible to the hook only, so the other entry covers all other pods too. Users with many pods
 * can add a namespaceSelector or matchConditions to that entry: fields of other writers stay, our
 * fields are restored. failurePolicy is Ignore with a timeout of two seconds, so the configuration
 * may stay when the process ends. Its caBundle is the webhook server's.
 *
 * Only the leader writes it. The port may be dynamic (:0), so it is known once the hook is served.
 *
 * Two programs without a lease (a hub beside `kc up`) both write the address of the hook and would
 * overwrite each other endlessly: so after a few times the write is delayed to every half minute.
 * The hook is reachable through either.
 */
#include "sidecar/sidecar.h"

#include "kc/create_or_update.h"
#include "kc/yaml.h"

#define SERVICE  "service://"
#define HTTPS    "https://"
#define LABELLED "labelled.sidecar.kubecontroller.io"
#define OTHERS   "annotated.sidecar.kubecontroller.io"

enum { BURST = 5 };
#define PERIOD 30.0 /* Seconds. */

static const char entry[] = "admissionReviewVersions: [v1]\n"
                            "failurePolicy: Ignore\n"
                            "matchPolicy: Equivalent\n"
                            "reinvocationPolicy: IfNeeded\n"
                            "sideEffects: NoneOnDryRun\n"
                            "timeoutSeconds: 2\n"
                            "rules:\n"
                            "- apiGroups: [\"\"]\n"
                            "  apiVersions: [v1]\n"
                            "  operations: [CREATE]\n"
                            "  resources: [pods]\n"
                            "  scope: Namespaced\n";

/* ---- address of the hook ---- */

/* service://namespace/name or service://namespace/name:port. */
typedef struct service {
    kc_str ns, name;
    int64_t port;
} service;

static bool is_service(const injector *in)
{
    return kc_str_starts(kc_cstr(in->url), KC_STR(SERVICE));
}

static int read_service(const injector *in, service *ret, kc_error *err)
{
    kc_str rest = kc_cstr(in->url + strlen(SERVICE));
    service s = {.port = 443};
    s.ns = kc_str_cut(&rest, '/');
    s.name = kc_str_cut(&rest, ':');
    if (!s.ns.n || !s.name.n || (rest.p && !kc_str_to_i64(rest, &s.port)))
        return kc_error_set(err, KC_INVALID, "hook-url: %s is not service://namespace/name:port",
                            in->url);
    *ret = s;
    return 0;
}

/* Host of "host:port", "[::1]:port" or either with a path. */
static kc_str sidecar_configuration_host_of(kc_str text)
{
    text = kc_str_cut(&text, '/');
    if (kc_str_starts(text, KC_STR("[")))
        return kc_str_sub(text, 1, (size_t)KC_MAX(kc_str_find(text, ']'), 1));
    return kc_str_cut(&text, ':');
}

static bool is_everywhere(kc_str host)
{
    return !host.n || kc_str_is(host, "0.0.0.0") || kc_str_is(host, "::");
}

int sidecar_host_names(const injector *in, kc_arena *arena, const char *ret[4], kc_error *err)
{
    const bool is_url = kc_str_starts(kc_cstr(in->url), KC_STR(HTTPS));
    service s;
    if (is_service(in)) {
        if (read_service(in, &s, err) < 0)
            return kc_error_result(err);
        ret[0] = kc_arena_printf(arena, "%.*s.%.*s.svc", KC_ARG(s.name), KC_ARG(s.ns));
        return 0;
    }
    if (*in->url && !is_url)
        return kc_error_set(err, KC_INVALID,
                            "hook-url: %s must start with https:// or "
                            "service://",
                            in->url);
    const kc_str host =
        sidecar_configuration_host_of(kc_cstr(is_url ? in->url + strlen(HTTPS) : in->address));
    if (is_everywhere(host))
        return kc_error_set(err, KC_INVALID,
                            "hook-url is required: the API server cannot derive how to reach %s",
                            in->address);
    ret[0] = kc_arena_strndup(arena, host.p, host.n);
    return 0;
}

static kc_node *client_config(const injector *in, kc_edit *to)
{
    kc_node *config = kc_node_object(to);
    service s;
    if (is_service(in) && read_service(in, &s, NULL) == 0) {
        kc_node *reference = kc_node_object(to);
        kc_node_add(to, reference, KC_STR("namespace"), kc_node_str(to, s.ns));
        kc_node_add(to, reference, KC_STR("name"), kc_node_str(to, s.name));
        kc_node_add(to, reference, KC_STR("path"), kc_node_str(to, KC_STR(SIDECAR_PATH)));
        kc_node_add(to, reference, KC_STR("port"), kc_node_i64(to, s.port));
        kc_node_add(to, config, KC_STR("service"), reference);
        return config;
    }
    const kc_str address = kc_cstr(in->address);
    const kc_str host = kc_str_sub(address, 0, (size_t)KC_MAX(kc_str_rfind(address, ':'), 0));
    kc_autofree char *url = *in->url ? kc_asprintf("%s" SIDECAR_PATH, in->url)
                                     : kc_asprintf(HTTPS "%.*s:%d" SIDECAR_PATH, KC_ARG(host),
                                                   kc_webhook_server_port(in->hooks));
    kc_node_add(to, config, KC_STR("url"), kc_node_str(to, kc_cstr(url)));
    return config;
}

/* ---- selectors ---- */

/* A LabelSelector has no "less" or "greater". */
static const struct {
    const char *is, *is_not;
} operators[] = {
    [KC_SELECT_EQUALS] = {"In", "NotIn"},
    [KC_SELECT_DOUBLE_EQUALS] = {"In", "NotIn"},
    [KC_SELECT_IN] = {"In", "NotIn"},
    [KC_SELECT_NOT_EQUALS] = {"NotIn", "In"},
    [KC_SELECT_NOT_IN] = {"NotIn", "In"},
    [KC_SELECT_EXISTS] = {"Exists", "DoesNotExist"},
    [KC_SELECT_DOES_NOT_EXIST] = {"DoesNotExist", "Exists"},
    [KC_SELECT_GREATER] = {NULL, NULL},
    [KC_SELECT_LESS] = {NULL, NULL},
};

static void add_expression(kc_edit *to, kc_node *expressions, const kc_requirement *r,
                           const char *operator)
{
    kc_node *one = kc_node_object(to), *values = kc_node_array(to);
    if (!operator)
        return;
    for (size_t i = 0; i < r->n_values; i++)
        kc_node_append(values, kc_node_str(to, r->values[i]));
    kc_node_add(to, one, KC_STR("key"), kc_node_str(to, r->key));
    kc_node_add(to, one, KC_STR("operator"), kc_node_str(to, kc_cstr(operator)));
    if (r->n_values)
        kc_node_add(to, one, KC_STR("values"), values);
    kc_node_append(expressions, one);
}

/* The pods of the rule, or the others: those can be expressed only if the rule is one requirement.
 * A rule that cannot be expressed is left out, and the hook checks it. */
static kc_node *object_selector(const injector *in, kc_edit *to, bool others)
{
    kc_node *selector = kc_node_object(to), *expressions = kc_node_array(to);
    size_t n = 0;
    const kc_requirement *all = in->rule ? kc_selector_requirements(in->rule, &n) : NULL;
    if (others && n > 1)
        n = 0;
    for (size_t i = 0; i < n; i++)
        add_expression(to, expressions, &all[i],
                       others ? operators[all[i].op].is_not : operators[all[i].op].is);
    if (kc_node_len(expressions))
        kc_node_add(to, selector, KC_STR("matchExpressions"), expressions);
    return selector;
}

/* ---- the configuration ---- */

static size_t sidecar_configuration_position_of(const kc_node *hooks, const char *name)
{
    size_t i = 0;
    kc_node_each_item (hooks, hook) {
        if (kc_str_is(kc_node_as_str(kc_node_get(hook, KC_STR("name"))), name))
            return i;
        i++;
    }
    return i;
}

/* The entry with this name, added if missing. */
static void fill_entry(const injector *in, kc_edit *to, kc_node *hooks, const char *name,
                       kc_node *selector)
{
    const size_t at = sidecar_configuration_position_of(hooks, name);
    if (at == kc_node_len(hooks))
        kc_node_append(hooks, kc_node_object(to));
    kc_node *hook = kc_node_at(hooks, at);
    kc_auto(kc_view) *fixed = kc_yaml_parse(kc_cstr(entry), NULL, NULL);
    kc_node_set(to, hook, KC_STR("name"), kc_node_str(to, kc_cstr(name)));
    kc_value_each_member (kc_view_root(fixed), member, value)
        kc_node_set(to, hook, member, kc_node_from_value(to, value));
    kc_node *config = client_config(in, to);
    const kc_node *before = kc_node_get(hook, KC_STR("clientConfig"));
    const kc_node *bundle = kc_node_get(before, KC_STR("caBundle"));
    if (bundle)
        kc_node_add(to, config, KC_STR("caBundle"), kc_node_clone(to, bundle));
    kc_node_set(to, hook, KC_STR("clientConfig"), config);
    kc_node_set(to, hook, KC_STR("objectSelector"), selector);
}

static int sidecar_configuration_fill(kc_edit *to, void *user, kc_error *err)
{
    const injector *in = user;
    kc_node *hooks = kc_node_get(kc_edit_root(to), KC_STR("webhooks"));
    (void)err;
    if (kc_node_type(hooks) != KC_JSON_ARRAY)
        kc_edit_set_nested(to, "webhooks", hooks = kc_node_array(to));
    fill_entry(in, to, hooks, OTHERS, object_selector(in, to, true));
    if (in->rule)
        fill_entry(in, to, hooks, LABELLED, object_selector(in, to, false));
    else if (sidecar_configuration_position_of(hooks, LABELLED) < kc_node_len(hooks))
        kc_node_remove_at(hooks, sidecar_configuration_position_of(hooks, LABELLED));
    return 0;
}

static kc_result sidecar_configuration_reconcile(kc_context *ctx, const kc_request *req,
                                                 kc_error *err)
{
    injector *in = ctx->user;
    if (!*in->url && !kc_webhook_server_port(in->hooks))
        return kc_requeue_after(KC_SECOND); /* The server does not listen yet. */
    const int64_t now = kc_clock_now(ctx->clock);
    if (now < in->not_before)
        return kc_requeue_after(in->not_before - now);
    const int written = kc_create_or_update(ctx->client, &kc_kind_mutating_webhook, req->key,
                                            sidecar_configuration_fill, in, NULL, err);
    if (written < 0)
        return kc_retry(err);
    if (written != KC_OPERATION_UNCHANGED)
        kc_webhook_server_publish_ca(in->hooks);
    in->written = true; /* Not before the caBundle is available: readiness needs both. */
    if (written == KC_OPERATION_UNCHANGED)
        return kc_done();
    in->not_before = now + kc_rate_limiter_when(in->write_limiter, req->key);
    return kc_done();
}

static bool sidecar_configuration_is_ours(kc_change_type type, const kc_change *change, void *user)
{
    (void)type;
    (void)user;
    return kc_str_is(kc_object_name(change->object), SIDECAR_CONFIGURATION);
}

static int enqueue_at_start(void *state, kc_queue *queue, kc_error *err)
{
    (void)state;
    (void)err;
    kc_queue_add(queue, KC_KEY("", SIDECAR_CONFIGURATION));
    return 0;
}

static const kc_source_ops start_ops = {.start = enqueue_at_start};

/* Ready means that the API server calls the hook. */
static int check_written(void *user, kc_error *err)
{
    injector *in = user;
    if (in->written || !kc_manager_is_leader(in->manager))
        return 0;
    return kc_error_set(err, KC_SERVICE_UNAVAILABLE,
                        "the webhook is not registered with the "
                        "API server yet");
}

int sidecar_keep_configuration(injector *in, kc_error *err)
{
    const kc_controller_opts opts = {
        .name = "sidecar-configuration",
        .kind = &kc_kind_mutating_webhook,
        .kind_predicate = kc_predicate_new(sidecar_configuration_is_ours, NULL),
        .sources = KC_SOURCES(kc_source_new(&start_ops, NULL)),
        .reconcile = sidecar_configuration_reconcile,
        .user = in,
    };
    in->write_limiter = kc_rate_limiter_bucket(kc_manager_clock(in->manager), 1 / PERIOD, BURST);
    if (kc_manager_add_readyz_check(in->manager, opts.name, check_written, in, err) < 0)
        return kc_error_result(err);
    return kc_controller_new(in->manager, &opts, err) ? 0 : kc_error_result(err);
}

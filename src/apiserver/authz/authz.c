/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authz.c: evaluates a chain of authorizers, and writes the message of a denial.
 *
 * Node and RBAC exist once and survive reloads; a reload replaces the chain, which defines the
 * order of the authorizers. A chain that can be replaced is referenced for each decision; one that
 * cannot is read without a lock.
 *
 * To add a mode: a constant in authz.h, its names in authz_chain.c and a row of `authorizers`.
 */
#include "apiserver/authz/authz.h"

#include "apiserver/authz/authz_chain.h"
#include "apiserver/authz/node_authorizer.h"
#include "apiserver/authz/rbac.h"
#include "apiserver/authz/request_state.h"
#include "kc/thread.h"
#include "object/gofmt/go_quote.h"

#include <stdatomic.h>

/* Names of authorizers in metrics. */
enum { MAX_AUTHORIZER_NAMES = 80 };

struct kc__authz {
    kc__authz_node *node; /* NULL without the mode Node. */
    kc__rbac *rbac;       /* NULL without the mode RBAC. */
    kc_metric *decisions;
    bool reloads;
    atomic_uint modes; /* Of the current chain. */
    kc_mutex mutex;    /* Guards `chain` if it can be replaced. A leaf lock. */
    kc__authz_chain *chain;
};

bool kc__authz_has_mode(const kc__authz *authz, kc__authz_mode mode)
{
    return atomic_load_explicit(&authz->modes, memory_order_relaxed) >> mode & 1;
}

kc__rbac *kc__authz_rbac(const kc__authz *authz)
{
    return authz->rbac;
}

/* ---- creation ---- */

static int open_node(kc__authz *authz, const kc__authz_opts *opts, kc_error *err)
{
    if (!kc__authz_chain_has(authz->chain, KC__AUTHZ_NODE_MODE))
        return 0;
    authz->node = kc__authz_node_new(&(kc__authz_node_opts){.store = opts->store,
                                                            .memory = opts->memory,
                                                            .metrics = opts->metrics},
                                     err);
    return authz->node ? 0 : kc_error_result(err);
}

static int open_rbac(kc__authz *authz, const kc__authz_opts *opts, kc_error *err)
{
    if (!kc__authz_chain_has(authz->chain, KC__AUTHZ_RBAC))
        return 0;
    authz->rbac = kc__rbac_new(
        &(kc__rbac_opts){.store = opts->store, .memory = opts->memory, .metrics = opts->metrics},
        err);
    return authz->rbac ? 0 : kc_error_result(err);
}

static int register_decisions(kc__authz *authz, kc_metrics *metrics, kc_error *err)
{
    if (!metrics)
        return 0;
    authz->decisions = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "apiserver_authorization_decisions_total",
                          .help = "Total number of terminal decisions made by an authorizer split "
                                  "by authorizer type, name, and decision.",
                          .labels = {{"type", kc__authz_mode_names},
                                     {"name", .max_values = MAX_AUTHORIZER_NAMES},
                                     {"decision", KC_LABEL_VALUES("allowed", "denied")}}},
        err);
    return authz->decisions ? 0 : kc_error_result(err);
}

/* Of a chain that no thread uses yet. */
static void open_counters(const kc__authz *authz, kc__authz_chain *chain)
{
    for (size_t i = 0; i < chain->n; i++) {
        kc__authz_link *link = &chain->links[i];
        const kc_str type = kc_cstr(kc__authz_mode_names[link->mode]), name = kc_cstr(link->name);
        link->allowed = kc_metric_counter(authz->decisions, type, name, KC_STR("allowed"));
        link->denied = kc_metric_counter(authz->decisions, type, name, KC_STR("denied"));
    }
}

static kc__authz_chain *first_chain(const kc__authz_opts *opts)
{
    if (opts->chain)
        return kc__authz_chain_ref(opts->chain);
    return kc__authz_chain_of_modes(&opts->modes, NULL);
}

kc__authz *kc__authz_new(const kc__authz_opts *opts, kc_error *err)
{
    kc_auto(kc__authz) *authz = kc_new(kc__authz);
    kc_mutex_init(&authz->mutex);
    authz->reloads = opts->reloads;
    authz->chain = first_chain(opts);
    atomic_init(&authz->modes, authz->chain->modes);
    if (register_decisions(authz, opts->metrics, err) < 0 || open_node(authz, opts, err) < 0 ||
        open_rbac(authz, opts, err) < 0)
        return NULL;
    open_counters(authz, authz->chain);
    return kc_take(authz);
}

kc__authz *kc__authz_free(kc__authz *authz)
{
    if (!authz)
        return NULL;
    kc__authz_node_free(authz->node);
    kc__rbac_free(authz->rbac);
    kc__authz_chain_unref(authz->chain);
    kc_mutex_done(&authz->mutex);
    free(authz);
    return NULL;
}

/* ---- replacing the chain ---- */

static int missing_authorizer(kc__authz_mode mode, kc_error *err)
{
    return kc_error_set(err, KC_INVALID,
                        "authorizer type %s is not allowed if it was not enabled at initial server "
                        "startup",
                        kc__authz_mode_names[mode]);
}

int kc__authz_replace(kc__authz *authz, kc__authz_chain *chain, kc_error *err)
{
    kc__authz_chain *before = NULL;
    assert(authz->reloads);
    if (kc__authz_chain_has(chain, KC__AUTHZ_NODE_MODE) && !authz->node)
        return missing_authorizer(KC__AUTHZ_NODE_MODE, err);
    if (kc__authz_chain_has(chain, KC__AUTHZ_RBAC) && !authz->rbac)
        return missing_authorizer(KC__AUTHZ_RBAC, err);
    open_counters(authz, chain);
    kc_locked (&authz->mutex) {
        before = authz->chain;
        authz->chain = kc__authz_chain_ref(chain);
    }
    atomic_store(&authz->modes, chain->modes);
    kc__authz_chain_unref(before);
    return 0;
}

static kc__authz_chain *acquire_chain(kc__authz *authz)
{
    kc__authz_chain *chain = NULL;
    if (!authz->reloads)
        return authz->chain;
    kc_locked (&authz->mutex)
        chain = kc__authz_chain_ref(authz->chain);
    return chain;
}

static void release_chain(const kc__authz *authz, kc__authz_chain *chain)
{
    if (authz->reloads)
        kc__authz_chain_unref(chain);
}

/* ---- authorizers ---- */

/* The input of an authorizer. */
typedef struct authorizer_input {
    kc__authz *authz;
    kc__authz_request_state *state;
    const kc__authz_link *link;
    const kc__authz_attributes *a;
    kc_buf *reason; /* NULL: not needed. */
} authorizer_input;

static kc__authz_decision allow_all(const authorizer_input *q)
{
    (void)q;
    return KC__AUTHZ_ALLOW;
}

static kc__authz_decision deny_all(const authorizer_input *q)
{
    if (q->reason)
        kc_buf_puts(q->reason, "Everything is forbidden.");
    return KC__AUTHZ_NO_OPINION;
}

static kc__authz_decision authorize_by_node(const authorizer_input *q)
{
    return kc__authz_node_authorize(q->authz->node, q->a, q->reason);
}

static kc__authz_decision authorize_by_rbac(const authorizer_input *q)
{
    return kc__rbac_authorize(q->authz->rbac, q->a, q->reason);
}

static kc__authz_decision authorize_by_webhook(const authorizer_input *q)
{
    return kc__authz_request_state_decide(q->state, q->link->webhook, q->a, q->reason);
}

typedef kc__authz_decision authorizer(const authorizer_input *q);
static authorizer *const authorizers[KC__AUTHZ_MODES] = {
    [KC__AUTHZ_ALWAYS_ALLOW] = allow_all,
    [KC__AUTHZ_ALWAYS_DENY] = deny_all,
    [KC__AUTHZ_NODE_MODE] = authorize_by_node,
    [KC__AUTHZ_RBAC] = authorize_by_rbac,
    [KC__AUTHZ_WEBHOOK_MODE] = authorize_by_webhook,
};

/* ---- the chain ---- */

bool kc__authz_uses_selectors(const kc__authz *authz)
{
    return authz->node || kc__authz_has_webhook(authz);
}

bool kc__authz_has_webhook(const kc__authz *authz)
{
    return authz->reloads || kc__authz_has_mode(authz, KC__AUTHZ_WEBHOOK_MODE);
}

bool kc__authz_takes_long(kc__authz *authz, const kc__authz_attributes *a)
{
    return authz->node && kc__authz_node_takes_long(authz->node, a->user);
}

bool kc__authz_is_master(const kc__user *user)
{
    for (size_t i = 0; i < user->n_groups; i++)
        if (kc_str_is(user->groups[i], KC__USER_GROUP_MASTERS))
            return true;
    return false;
}

static void join_reasons(kc_buf *reason, kc__authz_decision decision, kc_str text)
{
    if (!reason)
        return;
    if (decision != KC__AUTHZ_NO_OPINION)
        kc_buf_clear(reason);
    if (reason->n && text.n)
        kc_buf_putc(reason, '\n');
    kc_buf_append(reason, text);
}

/* Terminal decisions, each once. */
static void count_decision(const authorizer_input *q, kc__authz_decision decision)
{
    if (decision != KC__AUTHZ_NO_OPINION && !q->state->repeats)
        kc_counter_inc(decision == KC__AUTHZ_ALLOW ? q->link->allowed : q->link->denied);
}

/* Reasons of authorizers without an opinion are separated by newlines, as in Kubernetes. The error
 * of an authorizer that decides replaces those before it. */
static kc__authz_decision evaluate_chain(authorizer_input *q, const kc__authz_chain *chain,
                                         kc_buf *reason)
{
    kc__authz_decision decision = KC__AUTHZ_NO_OPINION;
    for (size_t i = 0; i < chain->n && decision == KC__AUTHZ_NO_OPINION; i++) {
        kc_scoped(kc_buf) text = {0};
        const size_t errors = q->state->errors.n;
        q->link = &chain->links[i];
        q->reason = reason ? &text : NULL;
        decision = authorizers[q->link->mode](q);
        if (decision == KC__AUTHZ_PENDING)
            break;
        join_reasons(reason, decision, kc_buf_str(&text));
        count_decision(q, decision);
        if (decision != KC__AUTHZ_NO_OPINION)
            kc__authz_request_state_drop_errors(q->state, errors);
    }
    return decision;
}

kc__authz_decision kc__authz_authorize(kc__authz *authz, kc__authz_request_state *state,
                                       const kc__authz_attributes *a, kc_buf *reason)
{
    authorizer_input q = {.authz = authz, .state = state, .a = a};
    kc__authz_decision decision = KC__AUTHZ_ALLOW;
    kc__authz_request_state_drop_errors(state, state->errors.n);
    if (reason)
        kc_buf_clear(reason);
    if (!kc__authz_is_master(a->user)) {
        kc__authz_chain *chain = acquire_chain(authz);
        decision = evaluate_chain(&q, chain, reason);
        release_chain(authz, chain);
    }
    state->repeats = false;
    return decision;
}

/* ---- denials ---- */

/* 'User "alice" cannot list resource "pods" in API group "" in the namespace "default"' */
static void describe_denial(kc_buf *out, const kc__authz_attributes *a)
{
    kc_buf_puts(out, "User ");
    kc__go_quote(out, a->user->name);
    kc_buf_printf(out, " cannot %.*s ", KC_ARG(a->verb));
    if (!a->is_resource) {
        kc_buf_puts(out, "path ");
        kc__go_quote(out, a->path);
        return;
    }
    kc_scoped(kc_buf) resource = {0};
    kc_buf_append(&resource, a->resource);
    if (!kc_str_empty(a->subresource))
        kc_buf_printf(&resource, "/%.*s", KC_ARG(a->subresource));
    kc_buf_puts(out, "resource ");
    kc__go_quote(out, kc_buf_str(&resource));
    kc_buf_puts(out, " in API group ");
    kc__go_quote(out, a->group);
    kc_buf_puts(out, kc_str_empty(a->ns) ? " at the cluster scope" : " in the namespace ");
    if (!kc_str_empty(a->ns))
        kc__go_quote(out, a->ns);
}

void kc__authz_sanitize(kc_buf *out, kc_str text)
{
    for (size_t i = 0; i < text.n; i++)
        switch (text.p[i]) {
        case '&': kc_buf_puts(out, "&amp;"); break;
        case '<': kc_buf_puts(out, "&lt;"); break;
        case '>': kc_buf_puts(out, "&gt;"); break;
        default: kc_buf_putc(out, text.p[i]);
        }
}

int kc__authz_forbid(const kc__authz_attributes *a, kc_str reason, kc_error *err)
{
    kc_scoped(kc_buf) denial = {0}, text = {0};
    describe_denial(&denial, a);
    kc__authz_sanitize(&text, kc_buf_str(&denial));
    if (!kc_str_empty(reason))
        kc_buf_printf(&text, ": %.*s", KC_ARG(reason));
    return kc__authz_forbid_object(a->group, a->resource, a->name, kc_buf_str(&text), err);
}

int kc__authz_forbid_object(kc_str group, kc_str resource, kc_str name, kc_str reason,
                            kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (!kc_str_empty(resource)) {
        kc_buf_append(&text, resource);
        if (!kc_str_empty(group))
            kc_buf_printf(&text, ".%.*s", KC_ARG(group));
        if (!kc_str_empty(name)) {
            kc_buf_putc(&text, ' ');
            kc__go_quote(&text, name);
        }
        kc_buf_puts(&text, " is ");
    }
    kc_buf_printf(&text, "forbidden: %.*s", KC_ARG(reason));
    kc_error_set(err, KC_FORBIDDEN, "%s", kc_buf_cstr(&text));
    kc_error_about(err, group, resource, name);
    return kc_error_result(err);
}

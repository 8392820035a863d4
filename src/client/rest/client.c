/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.c: clients and their handles.
 *
 * The core of a client holds its connections, limits and known kinds; all handles share it. A
 * handle adds the overrides of one user: each reconcile has its own handle, with its deadline and
 * its cache. Creating a handle is a single allocation.
 */
#include "client/rest/client_internal.h"

#include "client/transport/default.h"
#include "kc/names.h"

#include <errno.h>

#define TIMEOUT KC_MINUTE

/* ---- the core ---- */

static void core_unref(kc__client_core *core)
{
    if (!kc_ref_drop(&core->refs))
        return;
    kc__client_mapper_free(core->mapper);
    kc__client_schemas_free(core->schemas);
    kc_transport_free(core->transport);
    kc_log_free(core->log);
    kc_mutex_done(&core->mutex);
    free(core->user_agent);
    free(core->field_manager);
    free(core);
}

/* The transport counts requests; only the metrics that the client alone knows are registered
 * here. */
static int client_register_metrics(kc__client_core *core, kc_metrics *metrics, kc_error *err)
{
    const kc_metric_label verb = {"verb", .max_values = 16};
    if (!metrics)
        return 0;
    core->retries = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "rest_client_request_retries_total",
                          .help = "Number of request retries, partitioned by status code and verb.",
                          .labels = {{"code", .max_values = 64}, verb}},
        err);
    core->waits = kc_metrics_histogram(
        metrics,
        &(kc_metric_opts){.name = "rest_client_rate_limiter_duration_seconds",
                          .help =
                              "Client side rate limiter latency in seconds. Broken down by verb.",
                          .labels = {verb}},
        err);
    return core->retries && core->waits ? 0 : kc_error_result(err);
}

/* Returns the program's name, restricted to what is valid for a field manager. */
static char *program(void)
{
    const kc_str name = kc_cstr(program_invocation_short_name);
    return kc_str_dup(kc_str_sub(name, 0, KC_FIELD_MANAGER_MAX));
}

static kc__client_core *core_new(const kc_client_opts *opts)
{
    kc__client_core *core = kc_new(kc__client_core);
    kc_ref_init(&core->refs);
    kc_mutex_init(&core->mutex);
    core->clock = opts->clock ? opts->clock : kc_clock_real();
    core->timeout = opts->timeout ? opts->timeout : TIMEOUT;
    core->user_agent = opts->user_agent ? kc_strdup(opts->user_agent) : program();
    core->field_manager = opts->field_manager ? kc_strdup(opts->field_manager) : program();
    core->log = kc_log_child(opts->log, "client");
    core->qps = opts->qps;
    core->burst = opts->burst ? opts->burst : KC_MAX(1, 2 * opts->qps);
    core->paid_until = INT64_MIN / 2; /* The clock may count from zero: nothing is used up. */
    core->mapper = kc__client_mapper_new();
    core->schemas = kc__client_schemas_new();
    if (opts->rand)
        core->rand = kc_rand_split(opts->rand);
    else
        kc_rand_seed_os(&core->rand);
    return core;
}

/* ---- handles ---- */

kc_client *kc_client_new(const kc_client_opts *opts, kc_error *err)
{
    const kc_client_opts defaults = {0};
    opts = opts ? opts : &defaults;
    kc_auto(kc_client) *client = kc_new(kc_client);
    kc_ref_init(&client->refs);
    client->core = core_new(opts);
    client->core->transport =
        opts->transport ? opts->transport : kc__client_transport_default(opts, err);
    if (!client->core->transport || client_register_metrics(client->core, opts->metrics, err) < 0)
        return NULL;
    return kc_take(client);
}

kc_client *kc_client_ref(kc_client *client)
{
    if (client)
        kc_ref_add(&client->refs);
    return client;
}

kc_client *kc_client_unref(kc_client *client)
{
    if (!client || !kc_ref_drop(&client->refs))
        return NULL;
    core_unref(client->core);
    free(client);
    return NULL;
}

static int64_t client_earlier(int64_t a, int64_t b)
{
    return a && b ? KC_MIN(a, b) : a + b;
}

kc_client *kc_client_with(kc_client *client, const kc_client_overrides *bind)
{
    const kc_client_overrides *was = &client->bind;
    kc_client *handle = kc_new(kc_client);
    kc_ref_init(&handle->refs);
    kc_ref_add(&client->core->refs);
    handle->core = client->core;
    handle->bind = (kc_client_overrides){
        .cancel = bind->cancel ? bind->cancel : was->cancel,
        .deadline = client_earlier(bind->deadline, was->deadline),
        .reader = bind->reader ? bind->reader : was->reader,
        .fence = bind->fence ? bind->fence : was->fence,
        .read_live = bind->read_live || was->read_live,
        .dry_run = bind->dry_run || was->dry_run,
        .ns = bind->ns ? bind->ns : was->ns,
        .field_manager = bind->field_manager ? bind->field_manager : was->field_manager,
        .act_as = bind->act_as ? bind->act_as : was->act_as,
    };
    return handle;
}

const kc_clock *kc_client_clock(const kc_client *client)
{
    return client->core->clock;
}

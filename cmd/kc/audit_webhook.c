/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_webhook.c: sends audit events to a server, as EventLists of audit.k8s.io/v1.
 *
 * The kubeconfig of --audit-webhook-config-file has the address, with its path, and the
 * credentials; all that kubectl supports works. A delivery that fails for any reason is retried:
 * after the initial backoff, then after 1.5 times as long, four times in all. Events that come
 * meanwhile wait in the buffer of the sink. Runs on the sink's thread.
 */
#include "audit_options.h"

#include "kc/cancel.h"
#include "kc/client.h"
#include "kc/kubeconfig.h"

#define ITEM_HEAD "{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\","

#define REQUEST_TIMEOUT (30 * KC_SECOND)

enum { ATTEMPTS = 5 };

typedef struct audit_webhook {
    kc__audit_output output;
    kc_client *client;
    char *path; /* Of the address. */
    int64_t backoff;
    kc_cancel *stopping;
} audit_webhook;

/* Items of a list have neither kind nor apiVersion. */
static void write_list(kc_buf *out, const kc__audit_events *events)
{
    kc_buf_puts(out, "{\"kind\":\"EventList\",\"apiVersion\":\"audit.k8s.io/v1\",\"metadata\":{},"
                     "\"items\":[");
    for (size_t i = 0; i < events->n; i++) {
        const kc_str event = kc_str_trim(kc__audit_event_at(events, i));
        kc_buf_puts(out, i ? ",{" : "{");
        kc_buf_append(out, kc_str_sub(event, strlen(ITEM_HEAD), event.n));
    }
    kc_buf_puts(out, "]}");
}

static int post_list(audit_webhook *w, kc_str body, kc_error *err)
{
    kc_scoped(kc_buf) answer = {0};
    kc_error_done(err);
    return kc_client_raw(w->client, "POST", kc_cstr(w->path), KC_STR("application/json"), body,
                         &answer, err);
}

static int deliver_to_webhook(kc__audit_output *output, const kc__audit_events *events,
                              kc_error *err)
{
    audit_webhook *w = kc_container_of(output, audit_webhook, output);
    kc_scoped(kc_buf) body = {0};
    int64_t delay = w->backoff;
    write_list(&body, events);
    int failed = post_list(w, kc_buf_str(&body), err);
    for (int attempt = 1; failed && attempt < ATTEMPTS && !kc_cancel_fired(w->stopping);
         attempt++, delay += delay / 2) {
        kc_cancel_sleep_until(w->stopping, kc_clock_real(),
                              kc_clock_deadline(kc_clock_real(), delay));
        failed = post_list(w, kc_buf_str(&body), err);
    }
    return failed;
}

static void stop_webhook(kc__audit_output *output)
{
    kc_cancel_fire(kc_container_of(output, audit_webhook, output)->stopping);
}

static void free_webhook(kc__audit_output *output)
{
    audit_webhook *w = kc_container_of(output, audit_webhook, output);
    kc_client_unref(w->client);
    kc_cancel_unref(w->stopping);
    free(w->path);
    free(w);
}

/* The path of the address is that of the requests; the client gets the address without it. */
static char *split_address(char *server)
{
    char *host = strstr(server, "://"), *slash = host ? strchr(host + 3, '/') : NULL;
    if (!slash)
        return kc_strdup("/");
    char *path = kc_strdup(slash);
    *slash = '\0';
    return path;
}

kc__audit_output *kc__cli_audit_webhook_new(const char *kubeconfig, int64_t initial_backoff,
                                            kc_error *err)
{
    kc_auto(kc_config) *config = kc_config_load(&(kc_config_opts){.path = kubeconfig}, err);
    if (!config)
        return NULL;
    kc_autofree char *server = kc_strdup(config->server);
    kc_autofree char *path = split_address(server);
    kc_config without_path = *config;
    without_path.server = server;
    kc_client *client = kc_client_new(&(kc_client_opts){.config = &without_path,
                                                        .user_agent = "kc-audit-webhook",
                                                        .timeout = REQUEST_TIMEOUT},
                                      err);
    if (!client)
        return NULL;
    audit_webhook *w = kc_new(audit_webhook);
    w->output = (kc__audit_output){.plugin = "webhook",
                                   .deliver = deliver_to_webhook,
                                   .stop = stop_webhook,
                                   .free = free_webhook};
    w->client = client;
    w->path = kc_take(path);
    w->backoff = initial_backoff;
    w->stopping = kc_cancel_new(NULL);
    return &w->output;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authz_options.c: flags of `kc apiserver` for authorizers that need configuration. Names and rules
 * are those of kube-apiserver.
 *
 * To add a flag: a row of `flags` and a field of the options. Then run scripts/man.
 */
#include "authz_options.h"

#include <stddef.h>
#include <string.h>

#define FIELD(name) .offset = offsetof(kc__cli_authz_options, name)
#define AUTHORIZERS "Authorizers"
#define EXCLUDED    .given = offsetof(kc__cli_authz_options, given)

static const kc__cli_flag flags[] = {
    {"authorization-config", .argument = "FILE", .group = AUTHORIZERS, FIELD(config_file),
     .parse = kc__cli_flag_text, .values = "FILE",
     .help = "AuthorizationConfiguration with the authorizers of the server; excludes "
             "--authorization-mode and --authorization-webhook-*",
     .details = "The kind is of apiserver.config.k8s.io/v1. Authorizers of the types Node, RBAC, "
                "AlwaysAllow, AlwaysDeny and any number of the type Webhook are evaluated in the "
                "order of the file. Match conditions of a webhook (CEL) select the requests for "
                "which it is called; its failurePolicy decides what a failure means. The server "
                "reads the file again when it changes: webhooks may be added and removed, the "
                "other types must stay. An invalid file leaves the previous authorizers in "
                "effect."},
    {"authorization-webhook-config-file", .argument = "FILE", .group = AUTHORIZERS, EXCLUDED,
     FIELD(webhook_file), .parse = kc__cli_flag_text, .values = "FILE",
     .help = "kubeconfig of a server that decides about requests; needs the mode Webhook",
     .details = "The server posts a SubjectAccessReview to the URL of the current cluster. A "
                "response that decides nothing (429, 500, 504) is followed by up to four more "
                "attempts. A webhook that fails has no opinion; if no other authorizer allows the "
                "request, it gets 500."},
    {"authorization-webhook-version", .argument = "VERSION", .initial = "v1beta1",
     .group = AUTHORIZERS, EXCLUDED, FIELD(version), .parse = kc__cli_flag_text,
     .values = "v1 v1beta1",
     .help = "version of SubjectAccessReview for the webhook: v1 or v1beta1"},
    {"authorization-webhook-cache-authorized-ttl", .argument = "DURATION", .initial = "5m0s",
     .group = AUTHORIZERS, EXCLUDED, FIELD(authorized_ttl), .parse = kc__cli_flag_duration,
     .help = "TTL of cached 'authorized' responses"},
    {"authorization-webhook-cache-unauthorized-ttl", .argument = "DURATION", .initial = "30s",
     .group = AUTHORIZERS, EXCLUDED, FIELD(unauthorized_ttl), .parse = kc__cli_flag_duration,
     .help = "TTL of cached 'unauthorized' responses"},
};

const kc__cli_flag_set kc__cli_authz_part = {KC__CLI_FLAGS(flags),
                                             .size = sizeof(kc__cli_authz_options)};

static bool has_webhook_mode(const kc__authz_modes *modes)
{
    for (size_t i = 0; i < modes->n; i++)
        if (modes->items[i] == KC__AUTHZ_WEBHOOK_MODE)
            return true;
    return false;
}

int kc__cli_authz_options_check(kc__cli_authz_options *o, const kc__authz_modes *modes,
                                kc_error *err)
{
    const char **texts[] = {&o->config_file, &o->webhook_file};
    for (size_t i = 0; i < KC_COUNT(texts); i++)
        if (*texts[i] && !**texts[i])
            *texts[i] = NULL;
    if (o->config_file && o->given)
        return kc_error_set(err, KC_INVALID,
                            "--authorization-config can not be specified when --authorization-mode "
                            "or --authorization-webhook-* flags are defined");
    if (has_webhook_mode(modes) && !o->webhook_file)
        return kc_error_set(err, KC_INVALID,
                            "authorization-mode Webhook's authorization config file not passed; "
                            "add --authorization-webhook-config-file");
    if (o->webhook_file && !has_webhook_mode(modes))
        return kc_error_set(err, KC_INVALID,
                            "cannot specify --authorization-webhook-config-file without mode "
                            "Webhook");
    if (strcmp(o->version, "v1") != 0 && strcmp(o->version, "v1beta1") != 0)
        return kc_error_set(err, KC_INVALID,
                            "unsupported webhook authorizer version \"%s\", supported versions are "
                            "\"v1\", \"v1beta1\"",
                            o->version);
    return 0;
}

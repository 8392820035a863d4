/* SPDX-License-Identifier: Apache-2.0 */
/*
 * default.c: the default transport: HTTP, with the given configuration or the one that kubectl
 * would find.
 */
#include "client/transport/default.h"

kc_transport *kc__client_transport_default(const kc_client_opts *opts, kc_error *err)
{
    kc_auto(kc_config) *found = opts->config ? NULL : kc_config_load(NULL, err);
    const kc_config *config = opts->config ? opts->config : found;
    if (!config)
        return NULL;
    return kc_transport_http_new(config,
                                 &(kc_transport_http_opts){.clock = opts->clock,
                                                           .user_agent = opts->user_agent,
                                                           .metrics = opts->metrics},
                                 err);
}

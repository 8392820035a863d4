/* SPDX-License-Identifier: Apache-2.0 */
/* authz_chain.c: the list of authorizers, and the names of modes. */
#include "apiserver/authz/authz_chain.h"

const char *const kc__authz_mode_names[] = {
    [KC__AUTHZ_ALWAYS_ALLOW] = "AlwaysAllow", [KC__AUTHZ_ALWAYS_DENY] = "AlwaysDeny",
    [KC__AUTHZ_NODE_MODE] = "Node",           [KC__AUTHZ_RBAC] = "RBAC",
    [KC__AUTHZ_WEBHOOK_MODE] = "Webhook",     [KC__AUTHZ_MODES] = NULL,
};

const char *kc__authz_mode_own_name(kc__authz_mode mode)
{
    static const char *const names[] = {
        [KC__AUTHZ_ALWAYS_ALLOW] = "alwaysallow", [KC__AUTHZ_ALWAYS_DENY] = "alwaysdeny",
        [KC__AUTHZ_NODE_MODE] = "node",           [KC__AUTHZ_RBAC] = "rbac",
        [KC__AUTHZ_WEBHOOK_MODE] = "default",
    };
    return names[mode];
}

static void copy_link(kc__authz_link *to, const kc__authz_link *from)
{
    *to = (kc__authz_link){.mode = from->mode, .name = kc_strdup(from->name)};
    if (from->webhook)
        to->webhook = kc__authz_webhook_ref(from->webhook);
}

kc__authz_chain *kc__authz_chain_new(const kc__authz_link *links, size_t n)
{
    kc__authz_chain *chain = kc_calloc(1, sizeof(*chain) + n * sizeof(*links));
    kc_ref_init(&chain->refs);
    chain->n = n;
    for (size_t i = 0; i < n; i++) {
        copy_link(&chain->links[i], &links[i]);
        chain->modes |= 1u << links[i].mode;
    }
    return chain;
}

kc__authz_chain *kc__authz_chain_of_modes(const kc__authz_modes *modes, kc__authz_webhook *webhook)
{
    static const kc__authz_modes initial = {{KC__AUTHZ_ALWAYS_ALLOW}, 1};
    kc__authz_link links[KC__AUTHZ_MAX_MODES];
    modes = modes->n ? modes : &initial;
    for (size_t i = 0; i < modes->n; i++) {
        const kc__authz_mode mode = modes->items[i];
        links[i] = (kc__authz_link){mode, kc__authz_mode_own_name(mode),
                                    mode == KC__AUTHZ_WEBHOOK_MODE ? webhook : NULL};
    }
    return kc__authz_chain_new(links, modes->n);
}

kc__authz_chain *kc__authz_chain_ref(kc__authz_chain *chain)
{
    kc_ref_add(&chain->refs);
    return chain;
}

kc__authz_chain *kc__authz_chain_unref(kc__authz_chain *chain)
{
    if (!chain || !kc_ref_drop(&chain->refs))
        return NULL;
    for (size_t i = 0; i < chain->n; i++) {
        free((char *)(uintptr_t)chain->links[i].name);
        kc__authz_webhook_unref(chain->links[i].webhook);
    }
    free(chain);
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* controllers.c: the table of them, and the choice among them. See kc/controllers.h. */
#include "internal.h"

#include "common/indexes.h"

#include "kc/choose.h"

/* The order is that of their start, which does not matter, and of help. */
static const struct {
    const char *name, *summary;
    kc__setup_fn *setup;
} rows[] = {
    {"garbagecollector", "deletes what its owners have left behind", kc__garbage_collector_setup},
    {"namespace", "empties namespaces that are being deleted", kc__namespace_setup},
    {"serviceaccount", "a service account 'default' in every namespace", kc__service_account_setup},
    {"root-ca", "the server's authority in every namespace", kc__root_ca_setup},
    {"deployment", "replica sets of deployments, and their roll-outs", kc__deployment_setup},
    {"replicaset", "pods of replica sets", kc__replica_set_setup},
    {"scheduler", "a node for every pod", kc__scheduler_setup},
    {"nodelifecycle", "notices lost nodes, and drives their pods away", kc__node_lifecycle_setup},
    {"podgc", "removes pods of nodes that are gone", kc__pod_collector_setup},
    {"pods", "runs pods, on nodes of its own", kc__pods_setup},
};

const char *kc_controllers_name(size_t i)
{
    return i < KC_COUNT(rows) ? rows[i].name : NULL;
}

const char *kc_controllers_summary(size_t i)
{
    return i < KC_COUNT(rows) ? rows[i].summary : NULL;
}

static int choose_all(const char *words, bool chosen[KC_COUNT(rows)], kc_error *err)
{
    const char *names[KC_COUNT(rows)];
    for (size_t i = 0; i < KC_COUNT(rows); i++)
        names[i] = rows[i].name;
    return kc_choose(words ? words : "*", "controller", names, KC_COUNT(rows), chosen, err);
}

int kc_controllers_add(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err)
{
    static const kc_controllers_opts defaults = {0};
    kc_controllers_opts o = opts ? *opts : defaults;
    o.workers = o.workers ? o.workers : 5;
    o.node_grace = o.node_grace ? o.node_grace : 40 * KC_SECOND;
    o.ended_pods = o.ended_pods ? o.ended_pods : 12500;
    bool chosen[KC_COUNT(rows)] = {false};
    if (choose_all(o.names, chosen, err) < 0 ||
        kc__make_indexes(kc_manager_cache(manager), err) < 0)
        return -1;
    for (size_t i = 0; i < KC_COUNT(rows); i++)
        if (chosen[i] && rows[i].setup(manager, &o, err) < 0)
            return kc_error_wrap(err, "%s", rows[i].name);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* controllers.c: selects controllers by name (internal.h lists them) and adds them to a manager. */
#include "internal.h"

#include "common/indexes.h"

#include "kc/select_names.h"

static const struct {
    const char *name, *summary;
    kc__controllers_setup_fn *setup;
} rows[] = {
#define KC__CONTROLLERS_ROW(name, summary, setup) {name, summary, setup},
    KC__CONTROLLERS(KC__CONTROLLERS_ROW)
#undef KC__CONTROLLERS_ROW
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
    return kc_select_names(words ? words : "*", "controller", names, KC_COUNT(rows), chosen, err);
}

int kc_controllers_add(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err)
{
    static const kc_controllers_opts defaults = {0};
    kc_controllers_opts o = opts ? *opts : defaults;
    o.workers = o.workers ? o.workers : 5;
    o.node_grace = o.node_grace ? o.node_grace : 40 * KC_SECOND;
    o.ended_pods = o.ended_pods ? o.ended_pods : 12500;
    o.pods.has_root_ca = o.root_ca && *o.root_ca;
    bool chosen[KC_COUNT(rows)] = {false};
    if (choose_all(o.names, chosen, err) < 0 ||
        kc__common_make_indexes(kc_manager_cache(manager), err) < 0)
        return kc_error_result(err);
    for (size_t i = 0; i < KC_COUNT(rows); i++)
        if (chosen[i] && rows[i].setup(manager, &o, err) < 0)
            return kc_error_wrap(err, "%s", rows[i].name);
    return 0;
}

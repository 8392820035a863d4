/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_owner.c: owners of the status that the CRD controller writes. The controller writes to the
 * store directly, without the phases of a request, so it computes managedFields itself: its manager
 * is "kube-apiserver", as in Kubernetes. A CRD without owners stays without.
 */
#include "apiserver/crd/crd_controller_internal.h"
#include "apiserver/kinds/apiextensions/crd_type.h"
#include "apiserver/kinds/topology.h"
#include "kc/time.h"
#include "object/fields/fields_managed.h"

static const kc__resource crds = {.group = KC__CRD_GROUP, .kind = KC__CRD_KIND};

/* Updates the entries for a change from `before` to `after`, as text. Negative on failure. */
static int own_status(const kc__resource_topology *topology, const kc_object *before,
                      const kc_object *after, kc_time now, kc_buf *ret)
{
    char text[KC_TIME_TEXT];
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc__fields_managed) managed = {.arena = &arena};
    kc_auto(kc_view) *old = kc__fields_managed_take(&managed, before, NULL);
    kc_auto(kc_view) *new = kc__fields_view_of(after);
    kc__fields_ignored ignored;
    kc__fields_updater updater = {.ignored = &ignored};
    kc__fields_typed typed = {.type = topology->type, .version = KC_STR(KC__CRD_VERSION)};
    kc__fields_request request = {.updater = &updater,
                                  .live = typed,
                                  .object = typed,
                                  .manager = KC_STR("kube-apiserver"),
                                  .subresource = KC_STR("status"),
                                  .now = kc_time_print(now, text)};
    if (!old)
        return -1;
    updater.n_ignored = kc__resource_reset_fields(&crds, "status", typed.version, &arena, &ignored);
    request.live.value = kc_view_root(old);
    request.object.value = kc_view_root(new);
    if (kc__fields_managed_update(&managed, &request, NULL) < 0)
        return -1;
    if (managed.owners.n)
        kc__fields_managed_write(ret, &managed);
    return 0;
}

kc_object *kc__crd_own_status(kc__crd_controller *c, const kc_object *before, kc_object *after)
{
    kc_scoped(kc_buf) fields = {0};
    kc_auto(kc_object) *plain = after;
    if (!plain || !c->opts.topologies || !kc_object_managed_fields_json(before).n)
        return kc_take(plain);
    const kc__resource_topology *topology =
        kc__resource_topology_cache_get(c->opts.topologies, kc__crd_type);
    if (own_status(topology, before, plain, kc_clock_wall(c->opts.clock), &fields) < 0)
        return kc_take(plain);
    return kc_object_with_managed_fields(plain, kc_buf_str(&fields));
}

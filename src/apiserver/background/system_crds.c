/* SPDX-License-Identifier: Apache-2.0 */
/*
 * system_crds.c: see system_crds.h.
 *
 * A CRD passes the same steps as one that a client creates: decode, default, prepare. The
 * CRD controller starts afterwards and serves all of them before the first connection is accepted.
 *
 * At later starts the stored CRD gets the spec, labels and annotations of the manifest;
 * everything else stays. The manifests of a release are compatible with those of its predecessors,
 * so stored objects stay valid.
 *
 * To add one: a manifest in manifests/platform (cmd/kc passes all of them).
 */
#include "apiserver/background/system_crds.h"

#include "apiserver/authz/authz.h"
#include "apiserver/background/bootstrap_writes.h"
#include "apiserver/kinds/apiextensions/crd_type.h"
#include "apiserver/kinds/key_layout.h"
#include "apiserver/kinds/resource_ops.h"
#include "kc/diff.h"
#include "kc/meta.h"
#include "kc/yaml.h"

#define CRDS "customresourcedefinitions"

struct kc__bootstrap_crds {
    KC_VEC(char *) names;
};

/* ---- reading ---- */

static kc_object *read_crd(const kc__bootstrap_crd *crd, kc_error *err)
{
    kc_scoped(kc_buf) json = {0};
    kc_auto(kc_view) *view = kc_yaml_parse(crd->yaml, NULL, err);
    if (!view)
        return NULL;
    kc_json_write(&json, kc_view_root(view));
    return kc_object_parse(kc_buf_str(&json), NULL, err);
}

static void set_crd_metadata(kc__rest_api *api, kc_edit *edit)
{
    uint8_t random[16];
    char uid[KC_UID_TEXT], now[KC_TIME_TEXT];
    kc_rand_bytes(&api->contexts[0].rand, random, sizeof(random));
    kc_edit_set_nested(edit, "metadata.uid", kc_node_str(edit, kc_uid_of(random, uid)));
    kc_edit_set_nested(edit, "metadata.resourceVersion", kc_node_str(edit, KC_STR("0")));
    kc_edit_set_nested(edit, "metadata.generation", kc_node_i64(edit, 1));
    kc_edit_set_nested(edit, "metadata.creationTimestamp",
                       kc_node_str(edit, kc_time_print(kc_clock_wall(api->clock), now)));
}

static kc_object *prepare_draft(kc__rest_api *api, const kc__resource *r, kc__draft *draft,
                                kc_error *err)
{
    if (r->ops->default_(r, draft, err) < 0)
        return NULL;
    set_crd_metadata(api, kc__draft_edit(draft));
    if (r->ops->prepare_create(r, draft, err) < 0)
        return NULL;
    const kc_object *frozen = kc__draft_freeze(draft, r, err);
    return frozen ? r->ops->to_stored(r, frozen, err) : NULL;
}

/* The CRD as a create would store it. */
static kc_object *make_crd(kc__rest_api *api, const kc__resource *r, const kc__bootstrap_crd *crd,
                           kc_error *err)
{
    kc__draft draft = {0};
    kc_auto(kc_object) *object = read_crd(crd, err);
    if (!object || r->ops->decode(r, &object, &(kc__resource_decode_source){0}, NULL, err) < 0)
        return NULL;
    kc__draft_set(&draft, object);
    kc_object *made = prepare_draft(api, r, &draft, err);
    kc__draft_clear(&draft);
    return made;
}

/* ---- updating ---- */

static bool take_texts(kc_edit *edit, const kc_object *wanted)
{
    bool changed = false;
    kc_scoped(kc_arena) arena = {0};
    kc_str key, value;
    kc_meta_iter at = kc_object_annotations(wanted, &arena);
    while (kc_meta_next_pair(&at, &key, &value))
        changed |= kc_edit_set_annotation(edit, key, value);
    at = kc_object_labels(wanted, &arena);
    while (kc_meta_next_pair(&at, &key, &value))
        changed |= kc_edit_set_label(edit, key, value);
    return changed;
}

static bool take_spec(kc_edit *edit, const kc_object *stored, const kc_object *wanted)
{
    kc_auto(kc_view) *have = kc_view_of(stored), *want = kc_view_of(wanted);
    const kc_value *spec = kc_value_get(kc_view_root(want), "spec");
    if (kc_value_equal(kc_value_get(kc_view_root(have), "spec"), spec, NULL))
        return false;
    kc_node_set(edit, kc_edit_root(edit), KC_STR("spec"), kc_node_from_value(edit, spec));
    kc_edit_set_nested(edit, "metadata.generation",
                       kc_node_i64(edit, kc_object_generation(stored) + 1));
    return true;
}

/* The stored CRD with what the manifest says; NULL: it has that already. */
static kc_object *update_crd(const kc__resource *r, const kc_object *stored,
                             const kc_object *wanted, kc_error *err)
{
    kc_auto(kc_edit) *edit = kc_edit_of(stored);
    const bool texts = take_texts(edit, wanted), spec = take_spec(edit, stored, wanted);
    if (!texts && !spec)
        return NULL;
    kc_auto(kc_object) *untyped = kc_edit_freeze(edit, err);
    return untyped ? r->ops->check_type(r, untyped, err) : NULL;
}

/* ---- loading ---- */

static const kc__resource *resource_of_crds(kc__rest_api *api)
{
    const kc__rest_catalog *catalog =
        kc__rest_catalog_slot_current(api->catalog_slot, &api->contexts[0].catalog);
    return kc__registry_find(catalog->kinds, KC_STR(KC__CRD_GROUP), KC_STR("v1"), KC_STR(CRDS));
}

static int load_crd(kc__bootstrap_crds *crds, kc__bootstrap_writes *writes,
                    const kc__bootstrap_crd *crd, kc_error *err)
{
    kc__rest_api *api = writes->api;
    const kc__resource *r = resource_of_crds(api);
    kc_scoped(kc_error) failed = {0};
    kc_auto(kc_object) *wanted = make_crd(api, r, crd, &failed);
    if (!wanted) {
        kc_error_move(err, &failed);
        return kc_error_wrap(err, "%s", crd->source);
    }
    const kc_str name = kc_object_name(wanted);
    kc_vec_push(&crds->names, kc_str_dup(name));
    kc_auto(kc_object) *stored = kc__watch_cache_get(api->crds, name);
    kc_object *next = stored ? update_crd(r, stored, wanted, &failed) : kc_object_ref(wanted);
    if (next)
        kc__bootstrap_writes_put(writes, api->crds, name, next,
                                 stored ? kc_object_revision(stored) : KC__STORAGE_ABSENT);
    return failed.reason ? kc_error_move(err, &failed) : 0;
}

kc__bootstrap_crds *kc__bootstrap_crds_load(kc__rest_api *api, const kc__bootstrap_crd *list,
                                            size_t n, kc_error *err)
{
    int failed = 0;
    kc__bootstrap_writes writes;
    kc_auto(kc__bootstrap_crds) *crds = kc_new(kc__bootstrap_crds);
    kc__bootstrap_writes_init(&writes, api);
    for (size_t i = 0; i < n && !failed; i++)
        failed = load_crd(crds, &writes, &list[i], err);
    /* If both fail, report the error of the CRD. */
    const int written = kc__bootstrap_writes_wait(&writes, failed ? NULL : err);
    return failed || written ? NULL : kc_take(crds);
}

kc__bootstrap_crds *kc__bootstrap_crds_free(kc__bootstrap_crds *crds)
{
    if (!crds)
        return NULL;
    kc_vec_each (&crds->names, name)
        free(*name);
    kc_vec_done(&crds->names);
    free(crds);
    return NULL;
}

/* ---- protection ---- */

bool kc__bootstrap_is_system_crd(const kc__rest_call *call, kc_str name)
{
    const kc__bootstrap_crds *crds = call->api->system_crds;
    if (!crds || strcmp(call->resource->group, KC__CRD_GROUP) != 0 ||
        strcmp(call->resource->plural, CRDS) != 0)
        return false;
    for (size_t i = 0; i < crds->names.n; i++)
        if (kc_str_is(name, crds->names.items[i]))
            return true;
    return false;
}

kc__rest_verdict kc__bootstrap_protect_crd(kc__rest_call *call, kc_str name, const char *action)
{
    const char *reason = kc_arena_printf(
        call->arena, "this CustomResourceDefinition belongs to the server and cannot be %s",
        action);
    kc__authz_forbid_object(KC_STR(KC__CRD_GROUP), KC_STR(CRDS), name, kc_cstr(reason),
                            &call->error);
    return KC__REST_FAIL;
}

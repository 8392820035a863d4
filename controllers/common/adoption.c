/* SPDX-License-Identifier: Apache-2.0 */
/* adoption.c: see adoption.h. */
#include "common/adoption.h"

#include "common/indexes.h"

#include "kc/json.h"

void kc__common_claims_done(kc__common_claims *claims)
{
    kc_error_done(&claims->refusal);
}

/* ---- the owner ---- */

static void common_adoption_append(kc_object_list *to, kc_object_list *from)
{
    if (!from->n)
        return;
    to->items = kc_reallocarray(to->items, to->n + from->n, sizeof(*to->items));
    memcpy(to->items + to->n, from->items, from->n * sizeof(*from->items));
    to->n += from->n;
    from->n = 0;
}

static int list_at(const kc__common_claims *c, const kc_kind *kind, const char *index,
                   const char *value, kc_object_list *ret, kc_error *err)
{
    kc_scoped(kc_object_list) list = {0};
    const kc_list_opts which = {.index = index, .value = value};
    if (kc_client_list(c->client, kind, &which, &list, err) < 0)
        return kc_error_result(err);
    common_adoption_append(ret, &list);
    return 0;
}

int kc__common_list_claimable(const kc__common_claims *claims, const kc_kind *kind,
                              kc_object_list *ret, kc_error *err)
{
    kc_str key, value;
    kc_scoped(kc_buf) at = {0};
    kc_buf_append(&at, kc_object_uid(claims->owner));
    if (list_at(claims, kind, KC__COMMON_INDEX_CONTROLLER, kc_buf_cstr(&at), ret, err) < 0)
        return kc_error_result(err);
    kc__common_required_label(claims->selector, &key, &value);
    kc__common_index_of_label(&at, kc_object_namespace(claims->owner), key, value);
    return list_at(claims, kind, KC__COMMON_INDEX_ORPHANS, kc_buf_cstr(&at), ret, err);
}

/* ---- adopting ---- */

static void common_adoption_check_owner(kc__common_claims *c)
{
    kc_error *why = &c->refusal;
    const kc_key key = kc_object_key(c->owner);
    kc_auto(kc_object) *fresh =
        kc_client_get(c->client, c->owner_kind, key, &(kc_get_opts){.live = true}, why);
    c->checked = true;
    if (!fresh)
        kc_error_wrap(why, "can't recheck DeletionTimestamp");
    else if (!kc_str_eq(kc_object_uid(fresh), kc_object_uid(c->owner)))
        kc_error_set(why, KC_CONFLICT,
                     "can't recheck DeletionTimestamp: original %s %.*s/%.*s is gone: got uid "
                     "%.*s, wanted %.*s",
                     c->owner_kind->kind, KC_ARG(key.ns), KC_ARG(key.name),
                     KC_ARG(kc_object_uid(fresh)), KC_ARG(kc_object_uid(c->owner)));
    else if (kc_object_being_deleted(fresh))
        kc_error_set(why, KC_CONFLICT, "%.*s/%.*s has just been deleted at %.*s", KC_ARG(key.ns),
                     KC_ARG(key.name), KC_ARG(kc_object_deletion_timestamp(fresh)));
}

static int common_adoption_patch(kc__common_claims *c, const kc_kind *kind, const kc_object *object,
                                 kc_buf *reference, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, "{\"metadata\":{\"ownerReferences\":[");
    kc_buf_append(&text, kc_buf_str(reference));
    kc_buf_puts(&text, "],\"uid\":");
    kc_json_quote(&text, kc_object_uid(object));
    kc_buf_puts(&text, "}}");
    kc_auto(kc_object) *now = kc_client_patch(c->client, kind, kc_object_key(object),
                                              KC_PATCH_STRATEGIC, kc_buf_str(&text), NULL, err);
    return now ? 0 : kc_error_result(err);
}

static void common_adoption_put(kc_buf *out, const char *before, kc_str text)
{
    kc_buf_puts(out, before);
    kc_json_quote(out, text);
}

static int adopt(kc__common_claims *c, const kc_kind *kind, const kc_object *object, kc_error *err)
{
    if (!c->checked)
        common_adoption_check_owner(c);
    if (c->refusal.reason)
        return kc_error_set(err, c->refusal.reason, "can't adopt %s %.*s/%.*s (%.*s): %s",
                            kind->kind, KC_ARG(kc_object_namespace(object)),
                            KC_ARG(kc_object_name(object)), KC_ARG(kc_object_uid(object)),
                            kc_error_text(&c->refusal));
    kc_scoped(kc_buf) reference = {0};
    const kc_owner owner = kc_owner_of(c->owner, true);
    common_adoption_put(&reference, "{\"apiVersion\":", owner.api_version);
    common_adoption_put(&reference, ",\"kind\":", owner.kind);
    common_adoption_put(&reference, ",\"name\":", owner.name);
    common_adoption_put(&reference, ",\"uid\":", owner.uid);
    kc_buf_puts(&reference, ",\"controller\":true,\"blockOwnerDeletion\":true}");
    return common_adoption_patch(c, kind, object, &reference, err);
}

/* ---- releasing ---- */

/* The object is gone or was replaced by another one: there is nothing to release. */
static int common_adoption_release(kc__common_claims *c, const kc_kind *kind,
                                   const kc_object *object, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    kc_scoped(kc_buf) reference = {0};
    common_adoption_put(&reference, "{\"$patch\":\"delete\",\"uid\":", kc_object_uid(c->owner));
    kc_buf_putc(&reference, '}');
    if (common_adoption_patch(c, kind, object, &reference, &why) == 0 || kc_is_not_found(&why) ||
        kc_is_invalid(&why))
        return 0;
    return kc_error_move(err, &why);
}

/* ---- claiming ---- */

static int claim_own(kc__common_claims *c, const kc_kind *kind, const kc_object *object,
                     bool *ret_ours, kc_error *err)
{
    const bool matches = kc_selector_match(c->selector, object);
    if (!matches && !kc_object_being_deleted(c->owner) &&
        common_adoption_release(c, kind, object, err) < 0)
        return kc_error_result(err);
    *ret_ours = matches;
    return 0;
}

static bool is_adoptable(const kc__common_claims *c, const kc_object *object)
{
    return !kc_object_being_deleted(c->owner) && !kc_object_being_deleted(object) &&
           kc_selector_match(c->selector, object) &&
           kc_str_eq(kc_object_namespace(c->owner), kc_object_namespace(object));
}

static int claim_orphan(kc__common_claims *c, const kc_kind *kind, const kc_object *object,
                        bool *ret_ours, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    const bool adopts = is_adoptable(c, object);
    if (!adopts || adopt(c, kind, object, &why) == 0) {
        *ret_ours = adopts;
        return 0;
    }
    if (!kc_is_not_found(&why) || c->refusal.reason)
        return kc_error_move(err, &why);
    *ret_ours = false;
    return 0;
}

int kc__common_claim(kc__common_claims *claims, const kc_kind *kind, const kc_object *object,
                     bool *ret_ours, kc_error *err)
{
    kc_scoped(kc_arena) arena = {0};
    kc_owner controller;
    if (!kc_object_controller(object, &arena, &controller))
        return claim_orphan(claims, kind, object, ret_ours, err);
    if (kc_str_eq(controller.uid, kc_object_uid(claims->owner)))
        return claim_own(claims, kind, object, ret_ours, err);
    *ret_ours = false;
    return 0;
}

/* ---- potential owners ---- */

static bool selects(const kc_object *selecting, const kc_object *object)
{
    kc_auto(kc_selector) *selector = kc__common_selector_in(selecting, NULL);
    return selector && !kc_selector_is_everything(selector) && kc_selector_match(selector, object);
}

static int list_selecting(kc_cache *cache, const kc_kind *kind, kc_str value, kc_object_list *ret)
{
    kc_autofree char *text = kc_str_dup(value);
    return kc_cache_list(
        cache, kind, &(kc_list_opts){.index = KC__COMMON_INDEX_SELECTOR, .value = text}, ret, NULL);
}

static void enqueue_those_at(kc_cache *cache, const kc_kind *kind, const kc_object *object,
                             kc_str value, kc_enqueuer *to)
{
    kc_scoped(kc_object_list) list = {0};
    if (list_selecting(cache, kind, value, &list) < 0)
        return;
    for (size_t i = 0; i < list.n; i++)
        if (selects(list.items[i], object))
            kc_enqueue(to, kc_object_key(list.items[i]));
}

static void enqueue_selecting(kc_cache *cache, const kc_kind *kind, const kc_object *object,
                              kc_enqueuer *to)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_buf) at = {0};
    kc_meta_iter labels = kc_object_labels(object, &arena);
    kc_str key, value;
    while (kc_meta_next_pair(&labels, &key, &value)) {
        kc__common_index_of_label(&at, kc_object_namespace(object), key, value);
        enqueue_those_at(cache, kind, object, kc_buf_str(&at), to);
    }
    kc__common_index_of_label(&at, kc_object_namespace(object), (kc_str){0}, (kc_str){0});
    enqueue_those_at(cache, kind, object, kc_buf_str(&at), to);
}

void kc__common_enqueue_claimants(kc_cache *cache, const kc_informer *owners,
                                  const kc_object *object, kc_enqueuer *to)
{
    kc_scoped(kc_arena) arena = {0};
    const kc_kind *kind = kc_informer_kind(owners);
    kc_owner controller;
    if (kc_object_controller(object, &arena, &controller)) {
        if (kc_owner_is(&controller, kind))
            kc_enqueue(to, (kc_key){kc_object_namespace(object), controller.name});
    } else if (!kc_object_being_deleted(object) && kc_informer_has_synced(owners)) {
        enqueue_selecting(cache, kind, object, to);
    }
}

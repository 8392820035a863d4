/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transform.c: what a cache leaves out of the objects it keeps.
 *
 * managedFields are a third of a typical object and hardly any controller reads them. They are cut
 * out of the canonical text, where the name stands right before the value, without parsing it.
 */
#include "kc/cache.h"

#include <assert.h>

static const kc_str MANAGED_FIELDS = KC_STR_INIT("\"managedFields\":");

kc_object *kc_transform_none(kc_object *object, void *user)
{
    (void)user;
    return object;
}

/* The member with the comma that goes with it. */
static void member_bounds(kc_str value, const char **ret_from, const char **ret_to)
{
    const char *from = value.p - MANAGED_FIELDS.n, *to = value.p + value.n;
    assert(memcmp(from, MANAGED_FIELDS.p, MANAGED_FIELDS.n) == 0);
    if (*to == ',')
        to++;
    else if (from[-1] == ',')
        from--;
    *ret_from = from;
    *ret_to = to;
}

kc_object *kc_transform_strip_managed_fields(kc_object *object, void *user)
{
    (void)user;
    kc_str value = kc_object_managed_fields_json(object), json = kc_object_json(object);
    if (!value.n)
        return object;
    const char *from, *to;
    member_bounds(value, &from, &to);
    kc_scoped(kc_buf) text = {0};
    kc_buf_append(&text, kc_str_of(json.p, (size_t)(from - json.p)));
    kc_buf_append(&text, kc_str_of(to, (size_t)(json.p + json.n - to)));
    kc_object *stripped = kc_object_parse(kc_buf_str(&text), NULL, NULL);
    if (!stripped)
        return object; /* Cannot be: what was canonical still is. */
    kc_object_unref(object);
    return stripped;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transform.c: removes fields from objects before they are cached.
 *
 * managedFields are a third of a typical object, and hardly any controller reads them.
 */
#include "kc/cache.h"

kc_object *kc_transform_none(kc_object *object, void *user)
{
    (void)user;
    return object;
}

kc_object *kc_transform_strip_managed_fields(kc_object *object, void *user)
{
    (void)user;
    kc_object *stripped = kc_object_without_managed_fields(object);
    kc_object_unref(object);
    return stripped;
}

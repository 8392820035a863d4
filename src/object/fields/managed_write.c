/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_write.c: writes metadata.managedFields: entries in upstream's order (operation, second of
 * their time, manager, version, subresource), members in the order of the API type. Sets that are
 * as they were read are written as they were read.
 */
#include "object/fields/managed_internal.h"

static int owners_cmp(const void *a, const void *b)
{
    const kc__fields_owner *left = a, *right = b;
    if (left->applied != right->applied)
        return left->applied ? -1 : 1;
    if (left->seconds != right->seconds)
        return left->seconds < right->seconds ? -1 : 1;
    int order = kc_str_cmp(left->manager, right->manager);
    if (!order)
        order = kc_str_cmp(left->version, right->version);
    return order ? order : kc_str_cmp(left->subresource, right->subresource);
}

static void write_text(kc_buf *out, const char *name, kc_str text)
{
    if (!text.n)
        return;
    kc_buf_puts(out, name);
    kc_json_quote(out, text);
    kc_buf_putc(out, ',');
}

static void write_owner(kc_buf *out, const kc__fields_owner *owner)
{
    kc_buf_putc(out, '{');
    write_text(out, "\"manager\":", owner->manager);
    kc_buf_puts(out, owner->applied ? "\"operation\":\"Apply\"," : "\"operation\":\"Update\",");
    write_text(out, "\"apiVersion\":", owner->version);
    write_text(out, "\"time\":", owner->time);
    kc_buf_puts(out, "\"fieldsType\":\"FieldsV1\",\"fieldsV1\":");
    if (owner->text.n && owner->set == owner->set_of_text)
        kc_buf_append(out, owner->text);
    else
        kc__fields_v1_write(out, owner->set);
    if (owner->subresource.n) {
        kc_buf_puts(out, ",\"subresource\":");
        kc_json_quote(out, owner->subresource);
    }
    kc_buf_putc(out, '}');
}

void kc__fields_managed_write(kc_buf *out, kc__fields_managed *managed)
{
    kc_vec_sort(&managed->owners, owners_cmp);
    kc_buf_putc(out, '[');
    kc_vec_each (&managed->owners, owner) {
        if (owner != managed->owners.items)
            kc_buf_putc(out, ',');
        write_owner(out, owner);
    }
    kc_buf_putc(out, ']');
}

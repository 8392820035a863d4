/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amounts.c: lists of amounts of resources. An amount keeps the text that Kubernetes would print:
 * as it was written until arithmetic changes the amount, then the canonical text.
 */
#include "kc/json.h"
#include "kc/quota.h"

void kc_quota_amounts_done(kc_quota_amounts *amounts)
{
    kc_map_done(&amounts->summed);
    kc_arena_done(&amounts->arena);
}

bool kc_quota_amount_read(const kc_value *value, kc_quota_amount *ret)
{
    kc_quantity quantity;
    if (!value || kc_quantity_from(value, &quantity, NULL) < 0)
        return false;
    *ret = (kc_quota_amount){quantity, kc_value_as_str(value)};
    return true;
}

bool kc_quota_amount_of(const kc_quota_amounts *amounts, kc_str resource, kc_quota_amount *ret)
{
    if (amounts->written)
        return kc_quota_amount_read(kc_value_get_str(amounts->written, resource), ret);
    const kc_quota_amount *sum = kc_map_get(&amounts->summed, resource);
    if (sum)
        *ret = *sum;
    return sum != NULL;
}

/* ---- changing one amount ---- */

static void print_amount(kc_arena *arena, kc_quota_amount *amount)
{
    char text[KC_QUANTITY_MAX];
    amount->text = kc_arena_str(arena, kc_quantity_print(amount->value, text));
}

void kc_quota_amounts_set(kc_quota_amounts *amounts, kc_str resource, const kc_quota_amount *value)
{
    kc_quota_amount *entry = kc_map_get(&amounts->summed, resource);
    if (!entry) {
        entry = kc_arena_new(&amounts->arena, kc_quota_amount);
        kc_map_put(&amounts->summed, resource, entry);
    }
    *entry = *value;
}

void kc_quota_amounts_set_count(kc_quota_amounts *amounts, kc_str resource, int64_t count)
{
    kc_quota_amount amount = {.value = kc_quantity_of(count, KC_DECIMAL_SI)};
    print_amount(&amounts->arena, &amount);
    kc_quota_amounts_set(amounts, resource, &amount);
}

void kc_quota_amounts_add(kc_quota_amounts *amounts, kc_str resource, const kc_quota_amount *more)
{
    kc_quota_amount *sum = kc_map_get(&amounts->summed, resource);
    if (!sum)
        kc_quota_amounts_set(amounts, resource, more);
    else if (kc_quantity_add(&sum->value, more->value))
        print_amount(&amounts->arena, sum);
}

void kc_quota_amounts_subtract(kc_quota_amounts *amounts, kc_str resource,
                               const kc_quota_amount *less)
{
    kc_quota_amount *sum = kc_map_get(&amounts->summed, resource);
    const bool exact = sum && kc_quantity_sub(&sum->value, less->value);
    if (!sum || (exact && kc_quantity_sign(sum->value) <= 0))
        kc_quota_amounts_set_count(amounts, resource, 0);
    else if (exact)
        print_amount(&amounts->arena, sum);
}

void kc_quota_amounts_raise(kc_quota_amounts *amounts, kc_str resource,
                            const kc_quota_amount *value)
{
    const kc_quota_amount *sum = kc_map_get(&amounts->summed, resource);
    if (!sum || kc_quantity_cmp(value->value, sum->value) > 0)
        kc_quota_amounts_set(amounts, resource, value);
}

/* ---- whole lists ---- */

void kc_quota_amounts_read(kc_quota_amounts *amounts, const kc_value *list)
{
    kc_quota_amount amount;
    kc_value_each_member (list, name, value)
        if (kc_quota_amount_read(value, &amount))
            kc_quota_amounts_set(amounts, name, &amount);
}

void kc_quota_amounts_add_all(kc_quota_amounts *amounts, const kc_quota_amounts *more)
{
    kc_map_each (&more->summed, entry) {
        kc_quota_amount amount = *(const kc_quota_amount *)entry->value;
        amount.text = kc_arena_str(&amounts->arena, amount.text);
        kc_quota_amounts_add(amounts, entry->key, &amount);
    }
}

void kc_quota_amounts_print(kc_buf *out, const kc_quota_amounts *amounts, kc_str *names,
                            size_t n_names)
{
    kc_quota_amount amount;
    bool first = true;
    if (n_names > 1)
        qsort(names, n_names, sizeof(*names), kc_str_compare);
    for (size_t i = 0; i < n_names; i++) {
        if (!kc_quota_amount_of(amounts, names[i], &amount))
            continue;
        kc_buf_printf(out, "%s%.*s=%.*s", first ? "" : ",", KC_ARG(names[i]), KC_ARG(amount.text));
        first = false;
    }
}

void kc_quota_amounts_write(kc_buf *out, const kc_quota_amounts *amounts)
{
    KC_VEC(kc_str) names = {0};
    kc_map_each (&amounts->summed, entry)
        kc_vec_push(&names, entry->key);
    kc_vec_sort(&names, kc_str_compare);
    kc_buf_puts(out, "{");
    kc_vec_each (&names, name) {
        const kc_quota_amount *amount = kc_map_get(&amounts->summed, *name);
        kc_buf_puts(out, name == names.items ? "" : ",");
        kc_json_quote(out, *name);
        kc_buf_puts(out, ":");
        kc_json_quote(out, amount->text);
    }
    kc_buf_puts(out, "}");
    kc_vec_done(&names);
}

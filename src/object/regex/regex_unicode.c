/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regex_unicode.c: case folding and properties of Unicode, from the generated tables.
 *
 * A name of one letter is a group of categories: L is Ll, Lm, Lo, Lt and Lu.
 */
#include "object/regex/regex_internal.h"
#include "object/regex/regex_tables.h"

static const kc__regex_unicode *const unicode = &kc__regex_unicode_tables;

uint32_t kc__regex_fold_next(uint32_t code)
{
    size_t lo = 0, hi = unicode->n_folds;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (code > unicode->folds[mid].hi)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == unicode->n_folds || code < unicode->folds[lo].lo)
        return code;
    const kc__regex_fold *fold = &unicode->folds[lo];
    if (fold->delta)
        return (uint32_t)((int32_t)code + fold->delta);
    return (code - fold->lo) % 2 == 0 ? code + 1 : code - 1;
}

static uint32_t next_number(const uint16_t **at)
{
    uint32_t n = *(*at)++;
    if (n != 0xFFFF)
        return n;
    n = (uint32_t)(*at)[0] << 16 | (*at)[1];
    *at += 2;
    return n;
}

static void add_table(kc__regex_set *set, const kc__regex_table *table)
{
    const uint16_t *at = unicode->numbers + table->from, *end = at + table->n;
    for (uint32_t code = 0; at < end;) {
        uint32_t lo = code + next_number(&at);
        uint32_t hi = lo + next_number(&at);
        kc__regex_set_add(set, lo, hi);
        code = hi + 1;
    }
}

static bool names_table(kc_str name, const kc__regex_table *table)
{
    if (name.n == 1)
        return table->name[0] == name.p[0] && strlen(table->name) == 2;
    return kc_str_is(name, table->name);
}

bool kc__regex_property_add(kc__regex_set *set, kc_str name)
{
    bool found = false;
    for (size_t i = 0; i < unicode->n_tables; i++) {
        if (!names_table(name, &unicode->tables[i]))
            continue;
        add_table(set, &unicode->tables[i]);
        found = true;
    }
    return found;
}

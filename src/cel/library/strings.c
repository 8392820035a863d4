/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strings.c: functions of strings beyond the standard ones: charAt, indexOf, replace,
 * split, substring, trim, join, strings.quote. format() is in string_format.c.
 *
 * Positions count code points.
 */
#include "cel/library/library_internal.h"
#include "cel/library/string_format_internal.h"

#include "kc/utf8.h"

#include <string.h>

/* ---- positions ---- */

static size_t rune_length(kc_str text, size_t at)
{
    size_t n = kc_utf8_next(kc_str_sub(text, at, text.n), NULL);
    return n ? n : 1;
}

/* The byte at which a code point begins; the end when there are fewer. */
static size_t byte_of_rune(kc_str text, size_t rune)
{
    size_t at = 0;
    while (rune-- > 0 && at < text.n)
        at += rune_length(text, at);
    return at;
}

static kc_cel_value out_of_range(kc__cel_eval *ev, int64_t index)
{
    return kc__cel_error(ev, "index out of range: %lld", (long long)index);
}

KC__CEL_FUNCTION(char_at)
{
    int64_t i = a[1].integer;
    int64_t runes = (int64_t)kc__cel_runes(a[0].text);
    if (i < 0 || i > runes)
        return out_of_range(ev, i);
    size_t from = byte_of_rune(a[0].text, (size_t)i);
    size_t to = i == runes ? from : from + rune_length(a[0].text, from);
    return kc__cel_text(kc_str_sub(a[0].text, from, to));
}

/* The code point at which `part` begins, searching from byte `from`; -1. */
static int64_t find_from(kc_str text, kc_str part, size_t from)
{
    const char *found = from < text.n ? memmem(text.p + from, text.n - from, part.p, part.n) : NULL;
    return found ? (int64_t)kc__cel_runes(kc_str_of(text.p, (size_t)(found - text.p))) : -1;
}

static kc_cel_value index_of_from(kc__cel_eval *ev, kc_str text, kc_str part, int64_t offset)
{
    if (!part.n)
        return kc__cel_int(offset);
    if (offset < 0)
        return out_of_range(ev, offset);
    if ((uint64_t)offset >= kc__cel_runes(text))
        return kc__cel_int(-1);
    return kc__cel_int(find_from(text, part, byte_of_rune(text, (size_t)offset)));
}

KC__CEL_FUNCTION(index_of)
{
    return index_of_from(ev, a[0].text, a[1].text, n > 2 ? a[2].integer : 0);
}

static kc_cel_value last_index_from(kc__cel_eval *ev, kc_str text, kc_str part, int64_t offset)
{
    int64_t runes = (int64_t)kc__cel_runes(text), length = (int64_t)kc__cel_runes(part);
    if (!part.n)
        return kc__cel_int(offset);
    if (offset < 0)
        return out_of_range(ev, offset);
    if (offset >= runes || length > runes)
        return kc__cel_int(-1);
    offset = KC_MIN(offset, runes - length);
    /* Ends at the last byte where the part may begin. */
    for (size_t at = byte_of_rune(text, (size_t)offset) + 1; at-- > 0;)
        if (at + part.n <= text.n && memcmp(text.p + at, part.p, part.n) == 0)
            return kc__cel_int((int64_t)kc__cel_runes(kc_str_sub(text, 0, at)));
    return kc__cel_int(-1);
}

KC__CEL_FUNCTION(last_index_of)
{
    int64_t runes = (int64_t)kc__cel_runes(a[0].text);
    if (n > 2)
        return last_index_from(ev, a[0].text, a[1].text, a[2].integer);
    if (!a[1].text.n)
        return kc__cel_int(runes);
    if (a[0].text.n < a[1].text.n)
        return kc__cel_int(-1);
    return last_index_from(ev, a[0].text, a[1].text, runes - 1);
}

KC__CEL_FUNCTION(substring)
{
    int64_t runes = (int64_t)kc__cel_runes(a[0].text);
    int64_t start = a[1].integer, end = n > 2 ? a[2].integer : runes;
    if (n > 2 && start > end)
        return kc__cel_error(ev, "invalid substring range. start: %lld, end: %lld",
                             (long long)start, (long long)end);
    if (start < 0 || start > runes)
        return out_of_range(ev, start);
    if (end < 0 || end > runes)
        return out_of_range(ev, end);
    return kc__cel_text(kc_str_sub(a[0].text, byte_of_rune(a[0].text, (size_t)start),
                                   byte_of_rune(a[0].text, (size_t)end)));
}

/* ---- changes ---- */

static kc_cel_value change_case(kc__cel_eval *ev, kc_str text, char first, char last)
{
    kc_cel_value copy = kc__cel_copy_text(ev, KC_CEL_STRING, text);
    char *p = (char *)copy.text.p;
    for (size_t i = 0; !kc__cel_is_error(copy) && i < text.n; i++)
        if (p[i] >= first && p[i] <= last)
            p[i] = (char)(p[i] ^ 0x20);
    return copy;
}

KC__CEL_FUNCTION(lower_ascii)
{
    return change_case(ev, a[0].text, 'A', 'Z');
}

KC__CEL_FUNCTION(upper_ascii)
{
    return change_case(ev, a[0].text, 'a', 'z');
}

/* White space of Unicode, as Go's TrimSpace removes it. */
static bool is_space(uint32_t code)
{
    return (code >= '\t' && code <= '\r') || code == ' ' || code == 0x85 || code == 0xA0 ||
           code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
           code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

KC__CEL_FUNCTION(trim)
{
    kc_str text = a[0].text;
    size_t from = text.n, to = 0;
    for (size_t at = 0; at < text.n;) {
        uint32_t code = 0;
        size_t length = kc_utf8_next(kc_str_sub(text, at, text.n), &code);
        bool space = length && is_space(code);
        length = length ? length : 1;
        if (!space) {
            from = KC_MIN(from, at);
            to = at + length;
        }
        at += length;
    }
    return kc__cel_text(kc_str_sub(text, KC_MIN(from, to), to));
}

/* Replaces up to `limit` occurrences, all when it is negative. An empty text to replace is found
 * before each code point and at the end. */
static void replace_into(kc_buf *out, kc_str text, kc_str old, kc_str new, int64_t limit)
{
    size_t at = 0;
    for (int64_t done = 0; limit < 0 || done < limit; done++) {
        size_t found, after;
        if (old.n) {
            const char *p = at < text.n ? memmem(text.p + at, text.n - at, old.p, old.n) : NULL;
            if (!p)
                break;
            found = (size_t)(p - text.p);
            after = found + old.n;
        } else {
            if (done && at >= text.n)
                break;
            found = after = done ? at + rune_length(text, at) : 0;
        }
        kc_buf_append(out, kc_str_sub(text, at, found));
        kc_buf_append(out, new);
        at = after;
        if (out->failed)
            return;
    }
    kc_buf_append(out, kc_str_sub(text, at, text.n));
}

KC__CEL_FUNCTION(replace)
{
    kc_scoped(kc_buf) out = {.limit = KC_MAX(ev->max_bytes - ev->bytes, (size_t)1)};
    replace_into(&out, a[0].text, a[1].text, a[2].text, n > 3 ? a[3].integer : -1);
    if (out.failed) {
        ev->stopped = true;
        ev->why = "operation cancelled: memory limit exceeded";
    }
    return kc__cel_copy_text(ev, KC_CEL_STRING, kc_buf_str(&out));
}

/* ---- lists ---- */

/* The end of the next part, and where the part after it begins. */
static bool next_separator(kc_str text, kc_str separator, size_t at, size_t *ret_end,
                           size_t *ret_next)
{
    if (!separator.n) {
        *ret_end = *ret_next = at + (at < text.n ? rune_length(text, at) : 0);
        return *ret_next < text.n;
    }
    const char *p = at < text.n ? memmem(text.p + at, text.n - at, separator.p, separator.n) : NULL;
    if (!p)
        return false;
    *ret_end = (size_t)(p - text.p);
    *ret_next = *ret_end + separator.n;
    return true;
}

KC__CEL_FUNCTION(split)
{
    kc_str text = a[0].text;
    int64_t limit = n > 2 ? a[2].integer : -1;
    kc__cel_list *list = kc__cel_strings_new(ev, 0);
    size_t at = 0, end, next;
    bool nothing = limit == 0 || (!a[1].text.n && !text.n);
    while (list && !nothing && (limit < 0 || (int64_t)list->n < limit - 1) &&
           next_separator(text, a[1].text, at, &end, &next)) {
        if (!kc__cel_list_append(ev, list, kc__cel_text(kc_str_sub(text, at, end))))
            break;
        at = next;
    }
    if (list && !nothing)
        kc__cel_list_append(ev, list, kc__cel_text(kc_str_sub(text, at, text.n)));
    return list && !ev->stopped ? kc__cel_list_value(list) : kc__cel_error_const(ev->why);
}

KC__CEL_FUNCTION(join)
{
    kc_scoped(kc_buf) out = {.limit = KC_MAX(ev->max_bytes - ev->bytes, (size_t)1)};
    kc__cel_iter iter;
    kc_cel_value item;
    bool first = true;
    kc__cel_iter_begin(ev, a[0], &iter);
    while (kc__cel_iter_next(ev, &iter, &item, NULL)) {
        if (item.kind != KC_CEL_STRING) {
            kc_scoped(kc_buf) text = {0};
            kc__cel_write_plain(item, &text);
            return kc__cel_error(ev, "join: invalid input: %s", kc_buf_cstr(&text));
        }
        if (!first && n > 1)
            kc_buf_append(&out, a[1].text);
        first = false;
        kc_buf_append(&out, item.text);
    }
    if (out.failed) {
        ev->stopped = true;
        ev->why = "operation cancelled: memory limit exceeded";
    }
    return kc__cel_copy_text(ev, KC_CEL_STRING, kc_buf_str(&out));
}

/* ---- quoting and formatting ---- */

KC__CEL_FUNCTION(quote)
{
    static const char special[] = "\a\b\f\n\r\t\v\\\"", letters[] = "abfnrtv\\\"";
    kc_scoped(kc_buf) out = {0};
    kc_buf_putc(&out, '"');
    for (size_t i = 0; i < a[0].text.n; i++) {
        char c = a[0].text.p[i];
        const char *found = c ? strchr(special, c) : NULL;
        if (found)
            kc_buf_putc(&out, '\\');
        kc_buf_putc(&out, found ? letters[found - special] : c);
    }
    kc_buf_putc(&out, '"');
    return kc__cel_copy_text(ev, KC_CEL_STRING, kc_buf_str(&out));
}

KC__CEL_FUNCTION(format_string)
{
    return kc__cel_format(ev, a[0].text, a[1]);
}

/* ---- costs ---- */

static uint64_t join_cost(const kc_cel_value *a, size_t n, kc_cel_value result)
{
    (void)a, (void)n;
    return kc__cel_cost_factor(kc__cel_size(result), 2 * KC__CEL_STRING_FACTOR);
}

static kc__cel_estimate estimate_join_list(const kc__cel_estimate_args *args)
{
    kc_cel_cost list = args->sizes[0], size = {0};
    if (args->has_elements)
        size = kc__cel_range_multiply(list, args->element_size);
    if (args->n > 1) {
        kc_cel_cost separators = {list.min ? list.min - 1 : 0, list.max ? list.max - 1 : 0};
        size = kc__cel_range_add(size, kc__cel_range_multiply(args->sizes[1], separators));
    }
    kc__cel_estimate estimate = kc__cel_estimate_traversal(size);
    estimate.has_size = true;
    estimate.size = size;
    return estimate;
}

static kc__cel_estimate estimate_split(const kc__cel_estimate_args *args)
{
    kc__cel_estimate estimate = kc__cel_estimate_first_twice(args);
    uint64_t max = args->sizes[0].max;
    if (args->n > 2 && args->exprs[2]->kind == KC__CEL_LITERAL &&
        args->exprs[2]->literal.kind == KC_CEL_INT)
        max = (uint64_t)args->exprs[2]->literal.integer;
    estimate.has_size = true;
    estimate.size = kc__cel_range(0, max);
    return estimate;
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return kc__cel_cost_factor(a, 1.0 / (double)b);
}

static uint64_t plus_one(uint64_t n)
{
    return n < UINT64_MAX ? n + 1 : n;
}

static kc__cel_estimate estimate_replace(const kc__cel_estimate_args *args)
{
    kc_cel_cost size = args->sizes[0], old = args->sizes[1], new = args->sizes[2];
    kc_cel_cost count = {0}, kept = {0};
    if (old.min == 0) {
        count.max = plus_one(size.max);
        kept.max = size.max;
    } else if (new.max <= old.min) {
        kept.max = size.max;
    } else {
        count.max = divide_up(size.max, old.min);
    }
    if (old.max == 0) {
        count.min = plus_one(size.min);
        kept.min = size.min;
    } else if (old.max <= new.min) {
        kept.min = size.min;
    } else {
        count.min = divide_up(size.min, old.max);
    }
    kc__cel_estimate estimate = kc__cel_estimate_first_twice(args);
    estimate.has_size = true;
    estimate.size = kc__cel_range_add(kc__cel_range_multiply(count, new), kept);
    return estimate;
}

static kc__cel_estimate estimate_quote(const kc__cel_estimate_args *args)
{
    kc__cel_estimate estimate = kc__cel_estimate_first(args);
    estimate.has_size = true;
    estimate.size = kc__cel_range(args->sizes[0].min + 2, args->sizes[0].max * 2 + 2);
    return estimate;
}

static const kc__cel_overload overloads[] = {
    KC__CEL_ROW("charAt", "string_char_at_int", true, char_at, NULL, NULL, T_STRING, T_STRING,
                T_INT),
    KC__CEL_ROW("indexOf", "string_index_of_string", true, index_of, kc__cel_cost_traversal,
                kc__cel_estimate_list_traversal, T_INT, T_STRING, T_STRING),
    KC__CEL_ROW("indexOf", "string_index_of_string_int", true, index_of, kc__cel_cost_traversal,
                kc__cel_estimate_list_traversal, T_INT, T_STRING, T_STRING, T_INT),
    KC__CEL_ROW("lastIndexOf", "string_last_index_of_string", true, last_index_of,
                kc__cel_cost_traversal, kc__cel_estimate_list_traversal, T_INT, T_STRING, T_STRING),
    KC__CEL_ROW("lastIndexOf", "string_last_index_of_string_int", true, last_index_of,
                kc__cel_cost_traversal, kc__cel_estimate_list_traversal, T_INT, T_STRING, T_STRING,
                T_INT),
    KC__CEL_ROW("lowerAscii", "string_lower_ascii", true, lower_ascii, kc__cel_cost_first,
                kc__cel_estimate_first_sized, T_STRING, T_STRING),
    KC__CEL_ROW("replace", "string_replace_string_string", true, replace, kc__cel_cost_first_twice,
                estimate_replace, T_STRING, T_STRING, T_STRING, T_STRING),
    KC__CEL_ROW("replace", "string_replace_string_string_int", true, replace,
                kc__cel_cost_first_twice, estimate_replace, T_STRING, T_STRING, T_STRING, T_STRING,
                T_INT),
    KC__CEL_ROW("split", "string_split_string", true, split, kc__cel_cost_first_twice,
                estimate_split, T_STRINGS, T_STRING, T_STRING),
    KC__CEL_ROW("split", "string_split_string_int", true, split, kc__cel_cost_first_twice,
                estimate_split, T_STRINGS, T_STRING, T_STRING, T_INT),
    KC__CEL_ROW("substring", "string_substring_int", true, substring, kc__cel_cost_first,
                kc__cel_estimate_first_sized, T_STRING, T_STRING, T_INT),
    KC__CEL_ROW("substring", "string_substring_int_int", true, substring, kc__cel_cost_first,
                kc__cel_estimate_first_sized, T_STRING, T_STRING, T_INT, T_INT),
    KC__CEL_ROW("trim", "string_trim", true, trim, kc__cel_cost_first, kc__cel_estimate_first_sized,
                T_STRING, T_STRING),
    KC__CEL_ROW("upperAscii", "string_upper_ascii", true, upper_ascii, kc__cel_cost_first,
                kc__cel_estimate_first_sized, T_STRING, T_STRING),
};

const kc__cel_library kc__cel_library_strings = {overloads, KC_COUNT(overloads), KC__CEL_ALWAYS};

static const kc__cel_overload overloads_29[] = {
    KC__CEL_ROW("format", "string_format", true, format_string, kc__cel_cost_first,
                kc__cel_estimate_first, T_STRING, T_STRING, &kc__cel_type_list_dyn),
    KC__CEL_ROW("strings.quote", "strings_quote", false, quote, kc__cel_cost_first, estimate_quote,
                T_STRING, T_STRING),
};

const kc__cel_library kc__cel_library_strings_29 = {overloads_29, KC_COUNT(overloads_29),
                                                    KC__CEL_STRINGS_29};

static const kc__cel_overload join_overloads[] = {
    KC__CEL_ROW("join", "list_join", true, join, join_cost, estimate_join_list, T_STRING,
                T_STRINGS),
    KC__CEL_ROW("join", "list_join_string", true, join, join_cost, estimate_join_list, T_STRING,
                T_STRINGS, T_STRING),
};

const kc__cel_library kc__cel_library_join = {join_overloads, KC_COUNT(join_overloads),
                                              KC__CEL_ALWAYS};

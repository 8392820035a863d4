/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.c: values as structured-merge-diff sees them: their order, their equality, their text.
 *
 * Kubernetes decodes JSON numbers to int64 where they fit, and to float64 otherwise; both compare
 * by value. Three texts exist: in a path ([port=80,name="web"]), in FieldsV1 (JSON as json-iterator
 * writes it, HTML characters escaped), and in messages of validation (Go's "%#v").
 */
#include "object/fields/fields_internal.h"
#include "object/fields/fields_typed.h"

#include "kc/number.h"
#include "object/gofmt/go_quote.h"
#include "object/gofmt/go_text.h"
#include "object/model/value_members.h"

#include <math.h>

kc__fields_number kc__fields_number_of(const kc_value *value)
{
    yyjson_val *cell = (yyjson_val *)value;
    kc__fields_number number = {.is_number = yyjson_is_num(cell)};
    if (!number.is_number)
        return number;
    number.is_int = yyjson_is_sint(cell) || (yyjson_is_uint(cell) && cell->uni.u64 <= INT64_MAX);
    number.whole = number.is_int ? cell->uni.i64 : 0;
    number.real = yyjson_get_num(cell);
    return number;
}

static int double_cmp(double a, double b)
{
    return a < b ? -1 : a > b;
}

static int numbers_cmp(const kc_value *a, const kc_value *b)
{
    kc__fields_number left = kc__fields_number_of(a), right = kc__fields_number_of(b);
    if (left.is_int && right.is_int)
        return left.whole < right.whole ? -1 : left.whole > right.whole;
    return double_cmp(left.real, right.real);
}

/* The place of a type in the order. */
static int type_rank(const kc_value *value)
{
    switch (yyjson_get_type((yyjson_val *)value)) {
    case YYJSON_TYPE_NUM: return 0;
    case YYJSON_TYPE_STR: return 1;
    case YYJSON_TYPE_BOOL: return 2;
    case YYJSON_TYPE_ARR: return 3;
    case YYJSON_TYPE_OBJ: return 4;
    default: return 5;
    }
}

static int lists_cmp(const kc_value *a, const kc_value *b)
{
    const kc_value *end_a = kc__fields_after(a), *end_b = kc__fields_after(b);
    for (a++, b++; a < end_a && b < end_b; a = kc__fields_after(a), b = kc__fields_after(b)) {
        int order = kc__fields_value_cmp(a, b);
        if (order)
            return order;
    }
    return a < end_a ? 1 : b < end_b ? -1 : 0;
}

/* Member by member in the order of their names; the object that lacks the first name of the two is
 * the greater one, unless it has no further members. */
static int objects_cmp(const kc_value *a, const kc_value *b)
{
    kc__value_named_vec left = {0}, right = {0};
    kc__value_members_sorted(a, &left);
    kc__value_members_sorted(b, &right);
    int order = 0;
    size_t at = 0;
    for (; !order && at < left.n && at < right.n; at++) {
        int names = kc_str_cmp(left.items[at].name, right.items[at].name);
        order = names ? names : kc__fields_value_cmp(left.items[at].value, right.items[at].value);
    }
    if (!order)
        order = at < left.n ? 1 : at < right.n ? -1 : 0;
    kc_vec_done(&left);
    kc_vec_done(&right);
    return order;
}

int kc__fields_value_cmp(const kc_value *a, const kc_value *b)
{
    if (kc__fields_is(a, YYJSON_TYPE_STR) && a->tag == b->tag &&
        kc__fields_same_text(kc__fields_text(a), kc__fields_text(b)))
        return 0;
    int rank = type_rank(a), other = type_rank(b);
    if (rank != other)
        return rank < other ? -1 : 1;
    switch (rank) {
    case 0: return numbers_cmp(a, b);
    case 1: return kc_str_cmp(kc__fields_text(a), kc__fields_text(b));
    case 2: return (int)yyjson_get_bool((yyjson_val *)a) - (int)yyjson_get_bool((yyjson_val *)b);
    case 3: return lists_cmp(a, b);
    case 4: return objects_cmp(a, b);
    default: return 0;
    }
}

/* ---- equality ---- */

static bool values_equal(const kc_value *a, const kc_value *b, bool same);

static bool lists_equal(const kc_value *a, const kc_value *b, bool same)
{
    const kc_value *right = b + 1;
    if (kc__fields_len(a) != kc__fields_len(b))
        return false;
    kc__fields_each_item(a, left)
    {
        if (!values_equal(left, right, same))
            return false;
        right = kc__fields_after(right);
    }
    return true;
}

static bool objects_equal(const kc_value *a, const kc_value *b, bool same)
{
    if (kc__fields_len(a) != kc__fields_len(b))
        return false;
    kc_scoped(kc__fields_finder) in_b = kc__fields_finder_of(b);
    kc__fields_each_member(a, key)
    {
        const kc_value *other = kc__fields_find(&in_b, kc__fields_text(key));
        if (!other || !values_equal(key + 1, other, same))
            return false;
    }
    return true;
}

static bool numbers_same(const kc_value *a, const kc_value *b)
{
    kc__fields_number left = kc__fields_number_of(a), right = kc__fields_number_of(b);
    if (left.is_int != right.is_int)
        return false;
    return left.is_int ? left.whole == right.whole
                       : left.real == right.real && signbit(left.real) == signbit(right.real);
}

static bool values_equal(const kc_value *a, const kc_value *b, bool same)
{
    if (a == b)
        return true;
    if (!a || !b)
        return false;
    uint8_t type = yyjson_get_type((yyjson_val *)a);
    if (type != yyjson_get_type((yyjson_val *)b))
        return false;
    switch (type) {
    case YYJSON_TYPE_NUM: return same ? numbers_same(a, b) : numbers_cmp(a, b) == 0;
    case YYJSON_TYPE_STR: return kc__fields_same_text(kc__fields_text(a), kc__fields_text(b));
    case YYJSON_TYPE_ARR: return lists_equal(a, b, same);
    case YYJSON_TYPE_OBJ: return objects_equal(a, b, same);
    default: return a->tag == b->tag;
    }
}

bool kc__fields_equal(const kc_value *a, const kc_value *b)
{
    return values_equal(a, b, false);
}

bool kc__fields_same(const kc_value *a, const kc_value *b)
{
    return values_equal(a, b, true);
}

/* ---- text in paths ---- */

static void print_number(kc_buf *out, const kc_value *value)
{
    kc__fields_number number = kc__fields_number_of(value);
    if (number.is_int)
        kc_json_write(out, value);
    else
        kc_double_write(out, number.real, false);
}

void kc__fields_value_print(kc_buf *out, const kc_value *value)
{
    size_t n = 0;
    switch (yyjson_get_type((yyjson_val *)value)) {
    case YYJSON_TYPE_NUM: print_number(out, value); break;
    case YYJSON_TYPE_STR: kc__go_quote(out, kc__fields_text(value)); break;
    case YYJSON_TYPE_ARR:
        kc_buf_putc(out, '[');
        kc__fields_each_item(value, item)
        {
            kc_buf_puts(out, n++ ? "," : "");
            kc__fields_value_print(out, item);
        }
        kc_buf_putc(out, ']');
        break;
    case YYJSON_TYPE_OBJ:
        kc__fields_each_member(value, key)
        {
            kc_buf_append(out, kc__fields_text(key));
            kc_buf_putc(out, '=');
            kc__fields_value_print(out, key + 1);
        }
        break;
    default: kc_json_write(out, value); break;
    }
}

/* ---- text in FieldsV1 ---- */

static bool is_html_safe(unsigned char c)
{
    return c >= ' ' && c < 0x80 && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
}

static void write_escape(kc_buf *out, unsigned char c)
{
    switch (c) {
    case '"':
    case '\\': kc_buf_printf(out, "\\%c", c); break;
    case '\n': kc_buf_puts(out, "\\n"); break;
    case '\r': kc_buf_puts(out, "\\r"); break;
    case '\t': kc_buf_puts(out, "\\t"); break;
    default: kc_buf_printf(out, "\\u00%02x", c); break;
    }
}

/* The bytes at the start of a text that are written as they are. */
static size_t plain_bytes(kc_str text)
{
    size_t n = 0;
    while (n < text.n && is_html_safe((unsigned char)text.p[n]))
        n++;
    return n;
}

/* Writes the bytes of one character that may need an escape; returns their number. */
static size_t write_special(kc_buf *out, kc_str text)
{
    unsigned char c = (unsigned char)text.p[0];
    bool separator = c == 0xE2 && text.n >= 3 && (unsigned char)text.p[1] == 0x80 &&
                     ((unsigned char)text.p[2] & 0xFE) == 0xA8;
    if (separator)
        kc_buf_puts(out, (unsigned char)text.p[2] & 1 ? "\\u2029" : "\\u2028");
    else if (c >= 0x80)
        kc_buf_putc(out, (char)c);
    else
        write_escape(out, c);
    return separator ? 3 : 1;
}

static void write_string_value(kc_buf *out, kc_str text)
{
    kc_buf_putc(out, '"');
    while (text.n) {
        size_t n = plain_bytes(text);
        kc_buf_append(out, kc_str_sub(text, 0, n));
        if (n < text.n)
            n += write_special(out, kc_str_sub(text, n, text.n));
        text = kc_str_sub(text, n, text.n);
    }
    kc_buf_putc(out, '"');
}

/* json-iterator leaves Go's two digits in an exponent: 1e-07. */
static void write_real(kc_buf *out, double real)
{
    size_t before = out->n;
    kc_json_write_double(out, real);
    kc_str text = kc_str_of(out->p + before, out->n - before);
    if (text.n > 3 && text.p[text.n - 3] == 'e' && text.p[text.n - 2] == '-') {
        char digit = text.p[text.n - 1];
        out->n--;
        kc_buf_putc(out, '0');
        kc_buf_putc(out, digit);
    }
}

static void write_container(kc_buf *out, const kc_value *value)
{
    size_t n = 0;
    if (kc__fields_is_list(value)) {
        kc_buf_putc(out, '[');
        kc__fields_each_item(value, item)
        {
            kc_buf_puts(out, n++ ? "," : "");
            kc__fields_value_write(out, item);
        }
        kc_buf_putc(out, ']');
        return;
    }
    kc__value_named_vec members = {0};
    kc__value_members_sorted(value, &members);
    kc_buf_putc(out, '{');
    kc_vec_each (&members, member) {
        kc_buf_puts(out, n++ ? "," : "");
        write_string_value(out, member->name);
        kc_buf_putc(out, ':');
        kc__fields_value_write(out, member->value);
    }
    kc_buf_putc(out, '}');
    kc_vec_done(&members);
}

void kc__fields_value_write(kc_buf *out, const kc_value *value)
{
    kc__fields_number number = kc__fields_number_of(value);
    if (number.is_number && !number.is_int)
        write_real(out, number.real);
    else if (kc__fields_is(value, YYJSON_TYPE_STR))
        write_string_value(out, kc__fields_text(value));
    else if (kc__fields_is_list(value) || kc__fields_is_object(value))
        write_container(out, value);
    else
        kc_json_write(out, value);
}

/* ---- "%#v" ---- */

enum { MOST_GO_TEXT = 1024 };

static void print_go_members(kc_buf *out, const kc_value *object)
{
    kc__value_named_vec members = {0};
    kc__value_members_sorted(object, &members);
    kc_vec_each (&members, member) {
        if (out->n > MOST_GO_TEXT)
            break;
        kc_buf_puts(out, member == members.items ? "" : ", ");
        kc__go_quote(out, member->name);
        kc_buf_putc(out, ':');
        kc__fields_value_print_go(out, member->value);
    }
    kc_vec_done(&members);
}

void kc__fields_value_print_go(kc_buf *out, const kc_value *value)
{
    size_t n = 0;
    switch (yyjson_get_type((yyjson_val *)value)) {
    case YYJSON_TYPE_NUM: print_number(out, value); break;
    case YYJSON_TYPE_STR: kc__go_quote(out, kc__fields_text(value)); break;
    case YYJSON_TYPE_ARR:
        kc_buf_puts(out, "[]interface {}{");
        kc__fields_each_item(value, item)
        {
            if (out->n > MOST_GO_TEXT)
                break;
            kc_buf_puts(out, n++ ? ", " : "");
            kc__fields_value_print_go(out, item);
        }
        kc_buf_putc(out, '}');
        break;
    case YYJSON_TYPE_OBJ:
        kc_buf_puts(out, "map[string]interface {}{");
        print_go_members(out, value);
        kc_buf_putc(out, '}');
        break;
    case YYJSON_TYPE_NULL: kc_buf_puts(out, "interface {}(nil)"); break;
    default: kc_json_write(out, value); break;
    }
}

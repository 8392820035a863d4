/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kind.c: parses, formats and orders groups, versions, kinds and resources.
 *
 * All functions work on slices; only the writers copy. The plural of an unknown kind can only be
 * guessed: the rules below are those of kubectl and client-go.
 */
#include "kc/kind.h"

int kc_api_version_parse(kc_str api_version, kc_str *ret_group, kc_str *ret_version, kc_error *err)
{
    kc_str rest = api_version, first = kc_str_cut(&rest, '/');
    if (rest.p && kc_str_find(rest, '/') >= 0)
        return kc_error_set(err, KC_BAD_REQUEST, "unexpected GroupVersion string: %.*s",
                            KC_ARG(api_version));
    *ret_group = rest.p ? first : KC_STR("");
    *ret_version = rest.p ? rest : first;
    return 0;
}

void kc_api_version_write(kc_buf *out, kc_str group, kc_str version)
{
    if (group.n) {
        kc_buf_append(out, group);
        kc_buf_putc(out, '/');
    }
    kc_buf_append(out, version);
}

kc_gvk kc_gvk_of(kc_str api_version, kc_str kind)
{
    kc_gvk gvk = {.kind = kind};
    kc_api_version_parse(api_version, &gvk.group, &gvk.version, NULL);
    return gvk;
}

kc_gvk kc_object_gvk(const kc_object *object)
{
    return kc_gvk_of(kc_object_api_version(object), kc_object_kind(object));
}

static int cmp3(const kc_str *a, const kc_str *b)
{
    int order = 0;
    for (int i = 0; i < 3 && order == 0; i++)
        order = kc_str_cmp(a[i], b[i]);
    return order;
}

int kc_gvk_cmp(kc_gvk a, kc_gvk b)
{
    return cmp3((kc_str[]){a.group, a.version, a.kind}, (kc_str[]){b.group, b.version, b.kind});
}

int kc_gvr_cmp(kc_gvr a, kc_gvr b)
{
    return cmp3((kc_str[]){a.group, a.version, a.resource},
                (kc_str[]){b.group, b.version, b.resource});
}

int kc_group_kind_cmp(kc_group_kind a, kc_group_kind b)
{
    int order = kc_str_cmp(a.group, b.group);
    return order ? order : kc_str_cmp(a.kind, b.kind);
}

bool kc_gvk_eq(kc_gvk a, kc_gvk b)
{
    return kc_str_eq(a.kind, b.kind) && kc_str_eq(a.version, b.version) &&
           kc_str_eq(a.group, b.group);
}

bool kc_gvr_eq(kc_gvr a, kc_gvr b)
{
    return kc_str_eq(a.resource, b.resource) && kc_str_eq(a.version, b.version) &&
           kc_str_eq(a.group, b.group);
}

static void write_full(kc_buf *out, kc_str group, kc_str version, const char *what, kc_str name)
{
    kc_buf_append(out, group);
    kc_buf_putc(out, '/');
    kc_buf_append(out, version);
    kc_buf_puts(out, what);
    kc_buf_append(out, name);
}

void kc_gvk_write(kc_buf *out, kc_gvk gvk)
{
    write_full(out, gvk.group, gvk.version, ", Kind=", gvk.kind);
}

void kc_gvr_write(kc_buf *out, kc_gvr gvr)
{
    write_full(out, gvr.group, gvr.version, ", Resource=", gvr.resource);
}

static void write_dotted(kc_buf *out, kc_str name, kc_str group)
{
    kc_buf_append(out, name);
    if (group.n) {
        kc_buf_putc(out, '.');
        kc_buf_append(out, group);
    }
}

void kc_group_kind_write(kc_buf *out, kc_group_kind kind)
{
    write_dotted(out, kind.kind, kind.group);
}

void kc_group_resource_write(kc_buf *out, kc_group_resource resource)
{
    write_dotted(out, resource.resource, resource.group);
}

enum stability { ALPHA, BETA, STABLE };

typedef struct gvk_parsed_version {
    int64_t major, minor;
    enum stability stability;
} gvk_parsed_version;

/* Parses digits at the front of *rest up to the first letter. */
static bool gvk_take_number(kc_str *rest, int64_t *ret)
{
    size_t n = 0;
    while (n < rest->n && rest->p[n] >= '0' && rest->p[n] <= '9')
        n++;
    kc_str digits = kc_str_sub(*rest, 0, n);
    *rest = kc_str_sub(*rest, n, rest->n);
    return kc_str_to_i64(digits, ret);
}

static bool take_word(kc_str *rest, kc_str word)
{
    if (!kc_str_starts(*rest, word))
        return false;
    *rest = kc_str_sub(*rest, word.n, rest->n);
    return true;
}

/* Parses v1, v2beta3, v1alpha1; false for any other text. */
static bool gvk_read_version(kc_str text, gvk_parsed_version *ret)
{
    *ret = (gvk_parsed_version){.stability = STABLE};
    if (!take_word(&text, KC_STR("v")) || !gvk_take_number(&text, &ret->major))
        return false;
    if (text.n == 0)
        return true;
    if (take_word(&text, KC_STR("alpha")))
        ret->stability = ALPHA;
    else if (take_word(&text, KC_STR("beta")))
        ret->stability = BETA;
    else
        return false;
    return gvk_take_number(&text, &ret->minor) && text.n == 0;
}

static int cmp_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

int kc_version_cmp(kc_str a, kc_str b)
{
    gvk_parsed_version va, vb;
    bool known_a = gvk_read_version(a, &va), known_b = gvk_read_version(b, &vb);
    if (!known_a && !known_b)
        return kc_str_cmp(b, a);
    if (!known_a || !known_b || kc_str_eq(a, b))
        return known_a - known_b;
    if (va.stability != vb.stability)
        return (int)va.stability - (int)vb.stability;
    int order = cmp_i64(va.major, vb.major);
    return order ? order : cmp_i64(va.minor, vb.minor);
}

kc_resource_arg kc_resource_arg_parse(kc_str arg)
{
    kc_resource_arg parsed = {0};
    kc_str rest = arg;
    parsed.resource.resource = kc_str_cut(&rest, '.');
    parsed.resource.group = rest;
    kc_str version = kc_str_cut(&rest, '.');
    parsed.has_gvr = rest.p != NULL;
    if (parsed.has_gvr)
        parsed.gvr = (kc_gvr){rest, version, parsed.resource.resource};
    return parsed;
}

bool kc_kind_arg_parse(kc_str arg, kc_gvk *ret_gvk, kc_group_kind *ret_kind)
{
    kc_resource_arg parsed = kc_resource_arg_parse(arg);
    *ret_kind = (kc_group_kind){parsed.resource.group, parsed.resource.resource};
    if (parsed.has_gvr)
        *ret_gvk = (kc_gvk){parsed.gvr.group, parsed.gvr.version, parsed.gvr.resource};
    return parsed.has_gvr;
}

void kc_guess_plural(kc_buf *out, kc_str kind)
{
    size_t from = out->n;
    if (kind.n == 0)
        return;
    for (size_t i = 0; i < kind.n; i++) {
        char c = kind.p[i];
        kc_buf_putc(out, c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c);
    }
    kc_str singular = kc_str_sub(kc_buf_str(out), from, out->n);
    if (kc_str_ends(singular, KC_STR("endpoints")) || out->failed)
        return;
    char last = singular.p[singular.n - 1];
    if (last == 'y') {
        out->n--;
        kc_buf_puts(out, "ies");
    } else {
        kc_buf_puts(out, last == 's' ? "es" : "s");
    }
}

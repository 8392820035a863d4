/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trust_merge.c: the union of what several servers trust, as kube-apiserver publishes it.
 *
 * Two servers with different CAs would otherwise replace each other's forever. Certificates are the
 * same if their base64 text is, whatever its line breaks. What is published stays as it is, in its
 * order; what this server adds follows.
 */
#include "apiserver/background/trust_merge.h"

#include "kc/json.h"
#include "kc/view.h"

#define BEGIN_CERTIFICATE "-----BEGIN CERTIFICATE-----"
#define END_CERTIFICATE   "-----END CERTIFICATE-----"

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* The base64 text of the next certificate; false: there is none. */
static bool next_certificate(kc_str *rest, kc_str *ret)
{
    const char *begin =
        rest->n ? memmem(rest->p, rest->n, BEGIN_CERTIFICATE, strlen(BEGIN_CERTIFICATE)) : NULL;
    if (!begin)
        return false;
    const kc_str after =
        kc_str_sub(*rest, (size_t)(begin - rest->p) + strlen(BEGIN_CERTIFICATE), rest->n);
    const char *end = memmem(after.p, after.n, END_CERTIFICATE, strlen(END_CERTIFICATE));
    if (!end)
        return false;
    *ret = kc_str_sub(after, 0, (size_t)(end - after.p));
    *rest = kc_str_sub(after, ret->n + strlen(END_CERTIFICATE), after.n);
    return true;
}

/* Whether two texts are equal without their white space. */
static bool is_same_base64(kc_str a, kc_str b)
{
    for (;;) {
        while (a.n && is_space(a.p[0]))
            a = kc_str_sub(a, 1, a.n);
        while (b.n && is_space(b.p[0]))
            b = kc_str_sub(b, 1, b.n);
        if (!a.n || !b.n)
            return a.n == b.n;
        if (a.p[0] != b.p[0])
            return false;
        a = kc_str_sub(a, 1, a.n);
        b = kc_str_sub(b, 1, b.n);
    }
}

static bool has_certificate(kc_str bundle, kc_str wanted)
{
    kc_str found;
    while (next_certificate(&bundle, &found))
        if (is_same_base64(found, wanted))
            return true;
    return false;
}

static void merge_certificates(kc_str published, kc_str own, kc_buf *out)
{
    kc_str certificate;
    kc_buf_append(out, published);
    while (next_certificate(&own, &certificate)) {
        if (has_certificate(published, certificate))
            continue;
        if (out->n && out->p[out->n - 1] != '\n')
            kc_buf_putc(out, '\n');
        kc_buf_puts(out, BEGIN_CERTIFICATE);
        kc_buf_append(out, certificate);
        kc_buf_puts(out, END_CERTIFICATE "\n");
    }
}

static bool has_published_name(const kc_value *list, kc_str text)
{
    kc_value_each_item (list, item)
        if (kc_str_eq(kc_value_as_str(item), text))
            return true;
    return false;
}

static void merge_names(const kc_value *published, const kc_value *own, kc_buf *out)
{
    bool comma = false;
    const kc_value *lists[] = {published, own};
    kc_buf_putc(out, '[');
    for (size_t i = 0; i < KC_COUNT(lists); i++)
        kc_value_each_item (lists[i], item) {
            if (i == 1 && has_published_name(published, kc_value_as_str(item)))
                continue;
            if (comma)
                kc_buf_putc(out, ',');
            kc_json_write(out, item);
            comma = true;
        }
    kc_buf_putc(out, ']');
}

static bool has_published_names(const kc_value *list, const kc_value *wanted)
{
    kc_value_each_item (wanted, item)
        if (!has_published_name(list, kc_value_as_str(item)))
            return false;
    return true;
}

void kc__bootstrap_merge_trust(const char *name, kc_str published, kc_str own, kc_buf *out)
{
    if (kc_str_ends(kc_cstr(name), KC_STR("-ca-file"))) {
        merge_certificates(published, own, out);
        return;
    }
    kc_auto(kc_view) *there = published.n ? kc_view_parse(published, NULL, NULL) : NULL;
    kc_auto(kc_view) *ours = kc_view_parse(own, NULL, NULL);
    const kc_value *list = there ? kc_view_root(there) : NULL;
    if (kc_value_type(list) != KC_JSON_ARRAY || !ours)
        kc_buf_append(out, own);
    else if (has_published_names(list, kc_view_root(ours)))
        kc_buf_append(out, published);
    else
        merge_names(list, kc_view_root(ours), out);
}

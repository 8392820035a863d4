/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The published definitions include every kind as JSON and as protobuf with each field set:
 * decoding the protobuf must give the JSON, byte for byte, and encoding that gives the protobuf.
 * KC_DEFINITIONS is their directory.
 */
#include "apiserver/codec/protobuf.h"
#include "kc/buf.h"
#include "kc/diff.h"
#include "testing.h"

#include <dirent.h>
#include <stdio.h>

#define FOLDER KC_DEFINITIONS "/api/testdata/HEAD"

static kc_str read_file(const char *name, kc_buf *text)
{
    kc_autofree char *path = kc_asprintf("%s/%s", FOLDER, name);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    kc_buf_clear(text);
    size_t n;
    do {
        n = fread(kc_buf_reserve(text, 1 << 16), 1, 1 << 16, file);
        text->n += n;
    } while (n);
    fclose(file);
    return kc_buf_str(text);
}

static int is_protobuf(const struct dirent *entry)
{
    return kc_str_ends(kc_cstr(entry->d_name), KC_STR(".pb"));
}

/* Runs a check for each kind's pair of files: "apps.v1.Deployment". */
static size_t each_kind(void (*check)(const char *kind, kc_str pb, kc_str json))
{
    struct dirent **entries;
    int n = scandir(FOLDER, &entries, is_protobuf, alphasort);
    kc_scoped(kc_buf) pb = {0};
    kc_scoped(kc_buf) json = {0};
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        char *kind = entries[i]->d_name;
        kc_str bytes = read_file(kind, &pb);
        *strrchr(kind, '.') = 0;
        kc_autofree char *beside = kc_asprintf("%s.json", kind);
        check(kind, bytes, read_file(beside, &json));
        free(entries[i]);
    }
    free(entries);
    return (size_t)n;
}

static void assert_decodes(const char *kind, kc_str pb, kc_str json)
{
    if (strcmp(kind, "core.v1.WatchEvent") == 0)
        return; /* A frame of an answer: its envelope names no kind. */
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *decoded = kc__protobuf_decode(pb, NULL, &err);
    if (!decoded)
        fail_msg("%s: %s", kind, kc_error_text(&err));
    kc_auto(kc_object) *expected = kc_object_parse(json, NULL, &err);
    assert_non_null(expected);
    if (!kc_str_eq(kc_object_json(decoded), kc_object_json(expected)))
        fail_msg("%s:\n%.*s\nis not\n%.*s", kind, KC_ARG(kc_object_json(decoded)),
                 KC_ARG(kc_object_json(expected)));
}

static void every_kind_decodes_to_its_json_sample(void **state)
{
    (void)state;
    assert_in_range(each_kind(assert_decodes), 150, 1000);
}

static void put_test_varint(kc_buf *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        kc_buf_putc(out, (char)(value | 0x80));
    kc_buf_putc(out, (char)value);
}

/* The bytes of the element with a length that begins at `at`, behind its tag. */
static kc_str element_at(kc_str bytes, size_t at, size_t *ret_end)
{
    size_t n = 0;
    for (unsigned shift = 0;; shift += 7) {
        const uint8_t byte = (uint8_t)bytes.p[at++];
        n |= (size_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            break;
    }
    *ret_end = at + n;
    return kc_str_sub(bytes, at, at + n);
}

/* Appends `bytes` with the element at `at` replaced. */
static void replace_element(kc_buf *out, kc_str bytes, size_t at, kc_str by)
{
    size_t end;
    element_at(bytes, at, &end);
    kc_buf_append(out, kc_str_sub(bytes, 0, at));
    put_test_varint(out, by.n);
    kc_buf_append(out, by);
    kc_buf_append(out, kc_str_sub(bytes, end, bytes.n));
}

/* The samples set the resource version, which is not stored. */
static void strip_resource_version(kc_str pb, kc_buf *out)
{
    static const char text[] = "\x32\x14resourceVersionValue";
    kc_scoped(kc_buf) meta = {0};
    kc_scoped(kc_buf) raw = {0};
    size_t type_end, raw_end, meta_end;
    element_at(pb, 5, &type_end); /* After the magic and a tag. */
    const kc_str old_raw = element_at(pb, type_end + 1, &raw_end);
    const kc_str old_meta = element_at(old_raw, 1, &meta_end);
    const char *at = memmem(old_meta.p, old_meta.n, text, sizeof(text) - 1);
    if (!at) {
        kc_buf_append(out, pb);
        return;
    }
    replace_element(&meta, old_meta, (size_t)(at - old_meta.p) + 1, (kc_str){0});
    replace_element(&raw, old_raw, 1, kc_buf_str(&meta));
    replace_element(out, pb, type_end + 1, kc_buf_str(&raw));
}

static size_t n_equal;

/* The samples may be older than the amended types, whose new numbers are written also if they are
 * zero: such a value is longer, and the same object. */
static void assert_encodes(const char *kind, kc_str pb, kc_str json)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) encoded = {0};
    kc_scoped(kc_buf) expected = {0};
    kc_auto(kc_object) *object = kc_object_parse(json, NULL, &err);
    const kc_str version = kc_object_api_version(object);
    const kc__type_message *type = kc__type_lookup_kind(version, kc_object_kind(object));
    if (!type || !kc_object_name(object).n)
        return; /* No object that is stored. */
    if (kc__protobuf_encode(object, type, version, &encoded, &err) < 0)
        fail_msg("%s: %s", kind, kc_error_text(&err));
    strip_resource_version(pb, &expected);
    n_equal += kc_str_eq(kc_buf_str(&encoded), kc_buf_str(&expected));
    if (encoded.n < expected.n)
        fail_msg("%s: %zu bytes instead of %zu", kind, encoded.n, expected.n);
    kc_auto(kc_object) *again = kc__protobuf_decode(kc_buf_str(&encoded), NULL, &err);
    kc_auto(kc_object) *sample = kc__protobuf_decode(kc_buf_str(&expected), NULL, &err);
    assert_true(kc_str_eq(kc_object_json(again), kc_object_json(sample)));
}

static void every_json_sample_encodes_to_its_protobuf(void **state)
{
    (void)state;
    n_equal = 0;
    const size_t n = each_kind(assert_encodes);
    assert_in_range(n, 150, 1000);
    assert_in_range(n_equal, n - 40, n);
}

/* Cut anywhere, or with any byte changed, a body is an object or an error, never worse. */
static void mangle(const char *kind, kc_str pb, kc_str json)
{
    (void)kind;
    (void)json;
    size_t stride = pb.n / 20 + 1;
    for (size_t i = 0; i < pb.n; i += stride) {
        kc_object_unref(kc__protobuf_decode(kc_str_sub(pb, 0, i), NULL, NULL));
        kc_autofree char *changed = kc_str_dup(pb);
        changed[i] ^= 0x55;
        kc_object_unref(kc__protobuf_decode(kc_str_of(changed, pb.n), NULL, NULL));
    }
}

static void mangled_bodies_do_not_crash(void **state)
{
    (void)state;
    each_kind(mangle);
}

TESTS(every_kind_decodes_to_its_json_sample, every_json_sample_encodes_to_its_protobuf,
      mangled_bodies_do_not_crash)

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The published definitions come with every kind as JSON and as protobuf, each field filled in:
 * decoding the one must give the other, byte for byte. KC_DEFINITIONS is where they are.
 */
#include "apiserver/kinds/protobuf.h"
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

static void every_kind_decodes_to_the_json_beside_it(void **state)
{
    (void)state;
    assert_in_range(each_kind(assert_decodes), 150, 1000);
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

static void mangled_bodies_do_no_harm(void **state)
{
    (void)state;
    each_kind(mangle);
}

TESTS(every_kind_decodes_to_the_json_beside_it, mangled_bodies_do_no_harm)

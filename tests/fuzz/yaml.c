/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text may be refused, none may crash. Accepted text must survive being written and parsed
 * again, and must be written the same the second time. A JSON object must give the result of the
 * JSON parser.
 */
#include "fuzzing.h"

#include "kc/codec.h"
#include "kc/yaml.h"

#include <stdint.h>
#include <stdio.h>

static void fail(const char *what, kc_str text)
{
    fprintf(stderr, "%s:\n%.*s\n", what, KC_ARG(text));
    abort();
}

static bool same(const kc_value *a, const kc_value *b);

static bool same_items(const kc_value *a, const kc_value *b)
{
    kc_value_iter other = kc__value_iter(b, KC_JSON_ARRAY);
    kc_value_each_item (a, item) {
        if (!same(item, kc__value_iter_item(&other)))
            return false;
    }
    return true;
}

static bool same_members(const kc_value *a, const kc_value *b)
{
    kc_value_each_member (a, name, value)
        if (!same(value, kc_value_get_str(b, name)))
            return false;
    return true;
}

static bool same(const kc_value *a, const kc_value *b)
{
    kc_scoped(kc_buf) left = {0}, right = {0};
    kc_json_type type = kc_value_type(a), other = kc_value_type(b);
    if (type == KC_JSON_ARRAY)
        return other == KC_JSON_ARRAY && kc_value_len(a) == kc_value_len(b) && same_items(a, b);
    if (type == KC_JSON_OBJECT)
        return other == KC_JSON_OBJECT && kc_value_len(a) == kc_value_len(b) && same_members(a, b);
    kc_json_write(&left, a);
    kc_json_write(&right, b);
    return kc_str_eq(kc_buf_str(&left), kc_buf_str(&right));
}

static int check_view(kc_view *view, void *user)
{
    kc_scoped(kc_buf) once = {0}, twice = {0};
    (void)user;
    kc_yaml_write(&once, kc_view_root(view));
    kc_auto(kc_view) *again = kc_yaml_parse(kc_buf_str(&once), NULL, NULL);
    if (!again || !same(kc_view_root(view), kc_view_root(again)))
        fail("reads back as something else", kc_buf_str(&once));
    kc_yaml_write(&twice, kc_view_root(again));
    if (!kc_str_eq(kc_buf_str(&once), kc_buf_str(&twice)))
        fail("is written differently the second time", kc_buf_str(&once));
    kc_view_free(view);
    return 0;
}

static int check_document(kc_view *view, size_t line, void *user)
{
    const kc_str *text = user;
    if (!line || line > text->n + 1)
        fail("has a document on a line that does not exist", *text);
    return check_view(view, NULL);
}

static int count_object(kc_object *object, void *user)
{
    kc_object_unref(object);
    ++*(size_t *)user;
    return 0;
}

static void compare_with_json(kc_str text)
{
    kc_auto(kc_object) *json = kc_object_parse(text, NULL, NULL);
    if (!json)
        return;
    kc_auto(kc_object) *yaml = kc_codec_decode_one(&kc_codec_yaml, text, NULL, NULL);
    if (!yaml || !kc_str_eq(kc_object_json(json), kc_object_json(yaml)))
        fail("is not what JSON reads", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy of its own, so that reading behind the end is seen. */
    char *copy = kc_alloc(size);
    if (size)
        memcpy(copy, data, size);
    kc_str text = kc_str_of(copy, size);
    kc_scoped(kc_paths) duplicates = {0};
    kc_scoped(kc_error) err = {0};
    size_t objects = 0;
    int result = kc_yaml_each_line(text, &(kc_json_opts){.duplicates = &duplicates}, check_document,
                                   &text, &err);
    if ((result < 0) != (err.reason != KC_OK))
        fail("fails without an error, or the other way round", text);
    kc_codec_yaml.decode(text, NULL, count_object, &objects, NULL);
    compare_with_json(text);
    free(copy);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any header is refused with a location, or gives CRDs that are valid YAML. It is slow, since a
 * compiler parses the header; the header of the SDK is a short one in memory, so no files are
 * needed.
 */
#include "fuzzing.h"

#include "generate/crd/write_crd.h"
#include "generate/read/read_headers.h"

#include "kc/yaml.h"

static const char api[] =
    "#pragma once\n"
    "typedef _Bool bool; typedef int int32_t; typedef long int64_t; typedef unsigned long size_t;\n"
    "typedef struct kc_string_pair { char *key, *value; } kc_string_pair;\n"
    "typedef struct kc_string_map { kc_string_pair *items; size_t n; } kc_string_map;\n"
    "#define KC_LIST_OF(type) struct { type *items; size_t n; }\n"
    "#define KC_MAP_OF(type) struct { struct { char *key; type value; } *items; size_t n; }\n"
    "typedef struct kc_bytes { unsigned char *p; size_t n; } kc_bytes;\n"
    "typedef struct kc_int_or_string { bool is_string; int32_t number; char *text; } kc_int_or_string;\n"
    "typedef struct kc_quantity_text { char *text; } kc_quantity_text;\n"
    "typedef struct kc_timestamp { int64_t at; } kc_timestamp;\n"
    "typedef struct kc_raw { char *json; } kc_raw;\n"
    "typedef struct kc_object_meta { char *name; } kc_object_meta;\n";

static int check_yaml(const char *name, kc_str text, void *user, kc_error *err)
{
    (void)name;
    (void)user;
    kc_auto(kc_view) *view = kc_yaml_parse(text, NULL, err);
    assert(view);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_scoped(kc__gen_model) model = {0};
    kc_scoped(kc_error) err = {0};
    const kc_str text = kc_str_of((const char *)data, size);
    /* These make the compiler crash on purpose, or read other files. */
    if (size > 8192 || kc_str_contains(text, KC_STR("pragma")) ||
        kc_str_contains(text, KC_STR("include")) || kc_str_contains(text, KC_STR("embed")))
        return 0;
    kc_autofree char *header = kc_asprintf("#include \"kc/api.h\"\n%.*s", KC_ARG(text));
    const kc__gen_source sources[] = {
        {"/kc-fuzz/include/kc/api.h", kc_str_of(api, sizeof(api) - 1)},
        {"/kc-fuzz/api/a/v1/groupversion_info.h", KC_STR("/// +groupName=a.io\n")},
        {"/kc-fuzz/api/a/v1/robot_types.h", kc_cstr(header)},
    };
    int done = kc__gen_read_headers(&(kc__gen_read_opts){.sources = sources,
                                                         .n_sources = KC_COUNT(sources),
                                                         .sdk_include = "/kc-fuzz/include"},
                                    &model, &err);
    if (done == 0)
        done = kc__gen_write_crds(&model, &(kc__gen_crd_opts){0}, check_yaml, NULL, &err);
    assert(done == 0 || err.reason != KC_OK);
    return 0;
}

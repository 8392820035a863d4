/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any CRD is refused or gives headers that the generator reads again: any content of a schema stays
 * a comment, a name or a value. An invalid limit is an error.
 */
#include "fuzzing.h"

#include "generate/read/read_headers.h"
#include "generate/types/write_types.h"

#include "kc/yaml.h"

enum { MAX_FILES = 8 };

typedef struct files {
    kc__gen_source items[MAX_FILES];
    size_t n;
    kc_arena arena;
} files;

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
    "typedef struct kc_status_condition { char *type; } kc_status_condition;\n"
    "typedef struct kc_object_meta { char *name; } kc_object_meta;\n";

static int put_file(const char *name, kc_str text, void *user, kc_error *err)
{
    files *f = user;
    (void)err;
    if (f->n < MAX_FILES)
        f->items[f->n++] = (kc__gen_source){kc_arena_printf(&f->arena, "/kc-fuzz/api/%s", name),
                                            kc_arena_str(&f->arena, text)};
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    files f = {.items = {{"/kc-fuzz/include/kc/api.h", kc_str_of(api, sizeof(api) - 1)}}, .n = 1};
    kc_scoped(kc__gen_model) model = {0};
    kc_scoped(kc_error) err = {0};
    if (size > 8192)
        return 0;
    kc_auto(kc_view) *view = kc_yaml_parse(kc_str_of((const char *)data, size), NULL, NULL);
    if (view && kc__gen_write_types(kc_view_root(view), put_file, &f, &err) == 0 && f.n > 1) {
        const kc__gen_read_opts opts = {
            .sources = f.items, .n_sources = f.n, .sdk_include = "/kc-fuzz/include"};
        const int read = kc__gen_read_headers(&opts, &model, &err);
        assert(read == 0 || err.reason != KC_OK);
    }
    kc_arena_done(&f.arena);
    return 0;
}

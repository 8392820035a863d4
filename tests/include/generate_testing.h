/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generate_testing.h: generates YAML, or errors, from the text of a header.
 *
 * The header gets its group, the include of kc/api.h (line 1) and its own path; a test's first line
 * is line 2.
 */
#ifndef KC_GENERATE_TESTING_H
#define KC_GENERATE_TESTING_H

#include "testing.h"

#include "generate/crd/write_crd.h"
#include "generate/read/read_headers.h"

/* The directory does not exist on disk; the SDK's headers are beside the tests' working
 * directory. */
#define TYPES_PATH "/kc-tests/api/apps/v1/robot_types.h"
#define INFO_PATH  "/kc-tests/api/apps/v1/groupversion_info.h"
#define INFO_TEXT  "/// +groupName=apps.example.io\n"

/* A kind with these members in its spec. */
#define KIND_OF(before, members)                                     \
    before "typedef struct robot_spec {\n" members "} robot_spec;\n" \
           "/// +kubebuilder:object:root=true\n"                     \
           "typedef struct robot {\n"                                \
           "    kc_object_meta metadata;\n"                          \
           "    robot_spec spec;\n"                                  \
           "} robot;\n"

static inline int read_sources(const kc__gen_source *sources, size_t n, kc__gen_model *model,
                               kc_error *err)
{
    return kc__gen_read_headers(
        &(kc__gen_read_opts){.sources = sources, .n_sources = n, .sdk_include = "../include"},
        model, err);
}

static inline int read_text(const char *text, kc__gen_model *model, kc_error *err)
{
    kc_autofree char *whole = kc_asprintf("#include \"kc/api.h\"\n%s", text);
    const kc__gen_source sources[] = {{INFO_PATH, KC_STR(INFO_TEXT)}, {TYPES_PATH, kc_cstr(whole)}};
    return read_sources(sources, KC_COUNT(sources), model, err);
}

/* Appends every file, preceded by its name. */
static inline int put_text(const char *name, kc_str text, void *user, kc_error *err)
{
    kc_buf *out = user;
    (void)err;
    kc_buf_printf(out, "# %s\n%.*s", name, KC_ARG(text));
    return 0;
}

/* The CRDs of a header, or its errors. The caller frees the text. */
static inline char *crds_with(const char *text, const kc__gen_crd_opts *opts)
{
    kc_scoped(kc__gen_model) model = {0};
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) out = {0};
    if (read_text(text, &model, &err) < 0 ||
        kc__gen_write_crds(&model, opts, put_text, &out, &err) < 0)
        return kc_strdup(kc_error_text(&err));
    return kc_buf_take(&out);
}

static inline char *crds_of(const char *text)
{
    return crds_with(text, &(kc__gen_crd_opts){0});
}

/* Asserts that the lines of `part`, each indented by `depth` spaces, are consecutive in `text`. */
static inline void assert_part(const char *text, size_t depth, const char *part)
{
    kc_scoped(kc_buf) indented = {0};
    for (kc_str rest = kc_cstr(part); rest.n;) {
        const kc_str line = kc_str_cut(&rest, '\n');
        kc_buf_printf(&indented, "%*s%.*s\n", (int)depth, "", KC_ARG(line));
    }
    assert_contains(text, kc_buf_cstr(&indented));
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_headers.h: reads headers of API types into a model.
 *
 *     kc_scoped(kc__gen_model) model = {0};
 *     kc__gen_read_headers(&(kc__gen_read_opts){.paths = (const char *[]){"api"}, .n_paths = 1,
 *                                       .sdk_include = "/usr/include"}, &model, err);
 */
#ifndef KC_GENERATE_READ_HEADERS_H
#define KC_GENERATE_READ_HEADERS_H

#include "generate/model/model.h"

/* A file in memory. */
typedef struct kc__gen_source {
    const char *path; /* Absolute. */
    kc_str text;
} kc__gen_source;

typedef struct kc__gen_read_opts {
    /* Directories, searched recursively for groupversion_info.h and *_types.h ("api/..." equals
     * "api"), and single headers. */
    const char *const *paths;
    size_t n_paths;
    const kc__gen_source *sources; /* Files in memory, instead of paths or in addition. */
    size_t n_sources;
    const char *sdk_include;     /* The directory that contains kc/api.h. */
    const char *const *includes; /* Further include directories. */
    size_t n_includes;
    const char *project; /* Directory whose C files are searched for RBAC and webhook markers; NULL:
                          * none. */
} kc__gen_read_opts;

/*
 * Reads everything into a zeroed model. Negative with KC_INVALID and one line for each mistake,
 * with file, line and column; KC_NOT_FOUND if a path or libclang is missing. The model must be
 * freed in any case. Blocks on files; no other thread of the process may use libclang.
 */
int kc__gen_read_headers(const kc__gen_read_opts *opts, kc__gen_model *model, kc_error *err);

/* Adds a file's RBAC and webhook markers to the model; `display` is its name in errors. */
int kc__gen_read_project_text(kc_str text, const char *display, kc__gen_model *model,
                              kc_error *err);
/* The same for every C file below a directory. */
int kc__gen_read_project(const char *dir, kc__gen_model *model, kc_error *err);

#endif

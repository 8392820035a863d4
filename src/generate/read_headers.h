/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_headers.h: headers of API types to a model.
 *
 *     kc_scoped(kc__gen_model) model = {0};
 *     kc__read_headers(&(kc__read_opts){.paths = (const char *[]){"api"}, .n_paths = 1,
 *                                       .sdk_include = "/usr/include"}, &model, err);
 */
#ifndef KC_GENERATE_READ_HEADERS_H
#define KC_GENERATE_READ_HEADERS_H

#include "generate/model.h"

/* A file in memory. */
typedef struct kc__gen_source {
    const char *path; /* Absolute. */
    kc_str text;
} kc__gen_source;

typedef struct kc__read_opts {
    /* Folders, searched with all below them for groupversion_info.h and *_types.h ("api/..." is the
     * same as "api"), and single headers. */
    const char *const *paths;
    size_t n_paths;
    const kc__gen_source
        *sources; /* Files that are not on disk, instead of paths or beside them. */
    size_t n_sources;
    const char *sdk_include;     /* The folder in which kc/api.h is. */
    const char *const *includes; /* Further folders for #include. */
    size_t n_includes;
    const char *project; /* Folder whose C files are searched for RBAC and webhooks; NULL: none. */
} kc__read_opts;

/*
 * Reads everything into a zeroed model. Negative with KC_INVALID and one line for each mistake,
 * with file, line and column; KC_NOT_FOUND where a path or libclang is not there. The model must be
 * freed in any case. Blocks on files; the process must have no other thread that uses libclang.
 */
int kc__read_headers(const kc__read_opts *opts, kc__gen_model *model, kc_error *err);

/* Adds a file's RBAC and webhook markers to the model; `display` is its name in errors. */
int kc__read_project_text(kc_str text, const char *display, kc__gen_model *model, kc_error *err);
/* The same for every C file below a folder. */
int kc__read_project(const char *folder, kc__gen_model *model, kc_error *err);

#endif

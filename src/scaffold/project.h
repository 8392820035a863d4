/* SPDX-License-Identifier: Apache-2.0 */
/*
 * project.h: the file PROJECT, which records what has been scaffolded, in kubebuilder's format.
 * Unknown content stays.
 */
#ifndef KC_SCAFFOLD_PROJECT_H
#define KC_SCAFFOLD_PROJECT_H

#include "kc/edit.h"
#include "kc/error.h"

typedef struct kc__scaffold_project_file kc__scaffold_project_file;

enum { KC__SCAFFOLD_MAX_NAMES = 16 };

/* A short list of distinct names. */
typedef struct kc__scaffold_names {
    kc_str items[KC__SCAFFOLD_MAX_NAMES];
    size_t n;
} kc__scaffold_names;
bool kc__scaffold_names_have(const kc__scaffold_names *names, kc_str name);
/* KC_TOO_LARGE beyond KC__SCAFFOLD_MAX_NAMES. An existing name is not added again. */
int kc__scaffold_names_add(kc__scaffold_names *names, kc_str name, kc_error *err);

/* An image that a kind's controller runs. Empty: none. */
typedef struct kc__scaffold_image {
    kc_str image, command, port, user; /* The command's words, comma-separated. */
} kc__scaffold_image;

/* A kind of the project. Texts of a lookup are valid as long as the project. */
typedef struct kc__scaffold_resource {
    kc_str group, version, kind, plural; /* The group without the domain. */
    kc_str domain;
    bool cluster_scoped, api, ssa;

    kc__scaffold_image image;
    bool controller;                /* A controller with the kind's name. */
    kc__scaffold_names controllers; /* Controllers with names of their own. */

    bool defaulting, validation, conversion; /* Webhooks. */
    kc_str defaulting_path, validation_path; /* Empty: the default paths. */
    kc__scaffold_names spokes;               /* Versions that are converted to this one. */

    bool core;           /* A built-in kind (kc/kinds.h). */
    bool external;       /* Its types are elsewhere: */
    kc_str path, module; /* in this header, of this package. */
} kc__scaffold_resource;

kc__scaffold_project_file *kc__scaffold_project_new(kc_str name, kc_str domain, kc_str repo);
/* Parses a PROJECT file. KC_INVALID if it is invalid. */
kc__scaffold_project_file *kc__scaffold_project_parse(kc_str text, kc_error *err);
kc__scaffold_project_file *kc__scaffold_project_file_free(kc__scaffold_project_file *project);
KC_AUTO_DEFINE(kc__scaffold_project_file, kc__scaffold_project_file_free)

kc_str kc__scaffold_project_name(const kc__scaffold_project_file *project);
kc_str kc__scaffold_project_domain(const kc__scaffold_project_file *project);
kc_str kc__scaffold_project_repo(const kc__scaffold_project_file *project);
bool kc__scaffold_project_multigroup(const kc__scaffold_project_file *project);
bool kc__scaffold_project_namespaced(const kc__scaffold_project_file *project);
void kc__scaffold_project_set_multigroup(kc__scaffold_project_file *project, bool on);
void kc__scaffold_project_set_namespaced(kc__scaffold_project_file *project, bool on);

size_t kc__scaffold_project_count(const kc__scaffold_project_file *project);
kc__scaffold_resource kc__scaffold_project_at(const kc__scaffold_project_file *project,
                                              size_t index);
/* False if it is not there. */
bool kc__scaffold_project_find(const kc__scaffold_project_file *project, kc_str group,
                               kc_str version, kc_str kind, kc__scaffold_resource *ret);
/* Adds it, or merges additional settings. */
void kc__scaffold_project_put(kc__scaffold_project_file *project,
                              const kc__scaffold_resource *resource);

int kc__scaffold_project_write(const kc__scaffold_project_file *project, kc_buf *out,
                               kc_error *err);

#endif

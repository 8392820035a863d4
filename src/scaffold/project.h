/* SPDX-License-Identifier: Apache-2.0 */
/*
 * project.h: the file PROJECT, which says what has been scaffolded. As kubebuilder's: what this
 * program does not know in it stays.
 */
#ifndef KC_SCAFFOLD_PROJECT_H
#define KC_SCAFFOLD_PROJECT_H

#include "kc/edit.h"
#include "kc/error.h"

typedef struct kc__project kc__project;

enum { KC__MAX_NAMES = 16 };

/* A short list of names, each once. */
typedef struct kc__names {
    kc_str items[KC__MAX_NAMES];
    size_t n;
} kc__names;
bool kc__names_have(const kc__names *names, kc_str name);
/* KC_TOO_LARGE with one more than KC__MAX_NAMES. One that is there is not added again. */
int kc__names_add(kc__names *names, kc_str name, kc_error *err);

/* An image that a kind's controller runs. Empty: none. */
typedef struct kc__image {
    kc_str image, command, port, user; /* The command's words with commas between them. */
} kc__image;

/* A kind of the project. Texts of one that was found live as long as the project. */
typedef struct kc__resource {
    kc_str group, version, kind, plural; /* The group without the domain. */
    kc_str domain;
    bool cluster_scoped, api, ssa;

    kc__image image;
    bool controller;       /* One that is called as the kind is. */
    kc__names controllers; /* Those that were given names. */

    bool defaulting, validation, conversion; /* Webhooks. */
    kc_str defaulting_path, validation_path; /* Empty: the usual ones. */
    kc__names spokes;                        /* Versions that are converted to this one. */

    bool core;           /* One of Kubernetes' own (kc/kinds.h). */
    bool external;       /* Its types live elsewhere: */
    kc_str path, module; /* in this header, of this package. */
} kc__resource;

kc__project *kc__project_new(kc_str name, kc_str domain, kc_str repo);
/* The text of a PROJECT. KC_INVALID if it is none. */
kc__project *kc__project_parse(kc_str text, kc_error *err);
kc__project *kc__project_free(kc__project *project);
KC_AUTO_DEFINE(kc__project, kc__project_free)

kc_str kc__project_name(const kc__project *project);
kc_str kc__project_domain(const kc__project *project);
kc_str kc__project_repo(const kc__project *project);
bool kc__project_multigroup(const kc__project *project);
bool kc__project_namespaced(const kc__project *project);
void kc__project_set_multigroup(kc__project *project, bool on);
void kc__project_set_namespaced(kc__project *project, bool on);

size_t kc__project_count(const kc__project *project);
kc__resource kc__project_at(const kc__project *project, size_t index);
/* False if it is not there. */
bool kc__project_find(const kc__project *project, kc_str group, kc_str version, kc_str kind,
                      kc__resource *ret);
/* Adds it, or sets what it has in addition. */
void kc__project_put(kc__project *project, const kc__resource *resource);

int kc__project_write(const kc__project *project, kc_buf *out, kc_error *err);

#endif

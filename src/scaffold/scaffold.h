/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaffold.h: creates a project and adds kinds, controllers and webhooks to it.
 *
 * Existing files are never overwritten, except with `force`; files shared by several kinds get
 * lines at their markers, and nothing else of them changes. Every change of a file is reported.
 */
#ifndef KC_SCAFFOLD_SCAFFOLD_H
#define KC_SCAFFOLD_SCAFFOLD_H

#include "scaffold/plan.h"
#include "scaffold/project.h"

typedef enum kc__scaffold_report_kind {
    KC__SCAFFOLD_REPORT_CREATED,
    KC__SCAFFOLD_REPORT_REPLACED,  /* With force. */
    KC__SCAFFOLD_REPORT_INSERTED,  /* Lines, at a marker. */
    KC__SCAFFOLD_REPORT_SKIPPED,   /* It exists and differs from what would be written. */
    KC__SCAFFOLD_REPORT_NO_MARKER, /* `lines` must be inserted by hand. */
    KC__SCAFFOLD_REPORT_BY_HAND,   /* `lines` describe the manual change. */
} kc__scaffold_report_kind;

typedef struct kc__scaffold {
    const char *dir; /* Directory of the project. */
    bool force;
    void (*report)(kc__scaffold_report_kind what, const char *path, const char *lines,
                   void *user); /* May be NULL. */
    void *user;
} kc__scaffold;

/* License header of sources. */
typedef struct kc__scaffold_license_opts {
    const char *license; /* "apache2" or "none"; defaults to "apache2". */
    const char *file;    /* A file with a comment, instead of `license`. */
    const char *owner;   /* Owner of the copyright. */
    int year;            /* Year of the copyright; 0: none. */
} kc__scaffold_license_opts;

typedef struct kc__scaffold_init_opts {
    const char *domain; /* "example.io" */
    const char *name;   /* Defaults to the directory's name. */
    const char *repo;   /* Repository of the project; only recorded. */
    kc__scaffold_license_opts license;
    bool multigroup; /* Sources are grouped in directories by API group. */
    bool namespaced; /* The manager watches its own namespace only. */
} kc__scaffold_init_opts;

/* KC_ALREADY_EXISTS if the directory is a project. */
int kc__scaffold_init(const kc__scaffold *s, const kc__scaffold_init_opts *opts, kc_error *err);

/* A kind whose types are elsewhere. */
typedef struct kc__scaffold_external_opts {
    const char *path;   /* A header to include, or a directory with zz_generated.h. */
    const char *domain; /* Domain of its group. Defaults to none. */
    const char *module; /* The CMake package of the types, "name" or "name@version". */
} kc__scaffold_external_opts;

/* An image that the controller runs in a Deployment. */
typedef struct kc__scaffold_image_opts {
    const char *image;   /* NULL: none. */
    const char *command; /* "memcached,-v". Defaults to the image's. */
    const char *port;    /* Defaults to none. */
    const char *user;    /* A number. Defaults to the image's. */
} kc__scaffold_image_opts;

typedef struct kc__scaffold_api_opts {
    const char *group, *version, *kind;
    const char *plural;          /* Defaults to a name derived from the kind. */
    const char *controller_name; /* Defaults to the kind's. */
    kc__scaffold_external_opts external;
    kc__scaffold_image_opts image;
    bool cluster_scoped, no_resource, no_controller;
    bool ssa; /* The controller uses server-side apply. */
} kc__scaffold_api_opts;

/* KC_NOT_FOUND outside of a project; KC_ALREADY_EXISTS if the kind exists, without force. */
int kc__scaffold_api(const kc__scaffold *s, const kc__scaffold_api_opts *opts, kc_error *err);

typedef struct kc__scaffold_webhook_opts {
    const char *group, *version, *kind;
    const char *plural; /* For a kind that is not in the project yet. */
    kc__scaffold_external_opts external;
    bool defaulting, validation, conversion;
    const char *defaulting_path, *validation_path; /* Default to the standard paths. */
    const char *spokes; /* Versions that are converted to this one, "v1alpha1,v1beta1". */
} kc__scaffold_webhook_opts;

/* The kind must exist, unless it is external or built-in. */
int kc__scaffold_webhook(const kc__scaffold *s, const kc__scaffold_webhook_opts *opts,
                         kc_error *err);

typedef struct kc__scaffold_edit_opts {
    const bool *multigroup, *namespaced;      /* NULL: unchanged. */
    const kc__scaffold_license_opts *license; /* The same. */
} kc__scaffold_edit_opts;
int kc__scaffold_edit(const kc__scaffold *s, const kc__scaffold_edit_opts *opts, kc_error *err);

/* Creates everything that the PROJECT of the directory `from` records, in that of `s`. */
int kc__scaffold_regenerate(const kc__scaffold *s, const char *from, kc_error *err);

/* Reads PROJECT. KC_NOT_FOUND with a message if there is none. */
kc__scaffold_project_file *kc__scaffold_project(const kc__scaffold *s, kc_error *err);

#endif

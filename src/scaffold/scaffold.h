/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaffold.h: makes a project, and adds kinds, controllers and webhooks to it.
 *
 * Nothing that is there is ever overwritten, but with `force`; files that more kinds go into get
 * lines at their markers, and nothing else of them changes. Whatever happens to a file is said.
 */
#ifndef KC_SCAFFOLD_SCAFFOLD_H
#define KC_SCAFFOLD_SCAFFOLD_H

#include "scaffold/plan.h"
#include "scaffold/project.h"

typedef enum kc__said {
    KC__SAID_CREATED,
    KC__SAID_REPLACED,  /* With force. */
    KC__SAID_INSERTED,  /* Lines, at a marker. */
    KC__SAID_LEFT,      /* It is there, and differs from what would have been written. */
    KC__SAID_NO_MARKER, /* `lines` have to be inserted by hand. */
    KC__SAID_BY_HAND,   /* `lines` say what is to be done with it by hand. */
} kc__said;

typedef struct kc__scaffold {
    const char *folder; /* Of the project. */
    bool force;
    void (*say)(kc__said what, const char *path, const char *lines, void *user); /* May be NULL. */
    void *user;
} kc__scaffold;

/* What stands at the top of sources. */
typedef struct kc__license_opts {
    const char *license; /* "apache2" or "none"; defaults to the former. */
    const char *file;    /* Instead: a file with a comment. */
    const char *owner;   /* Of the copyright. */
    int year;            /* Of it; 0: not said. */
} kc__license_opts;

typedef struct kc__init_opts {
    const char *domain; /* "example.io" */
    const char *name;   /* Defaults to the folder's. */
    const char *repo;   /* Where it will be; only noted. */
    kc__license_opts license;
    bool multigroup; /* Sources go into folders by group. */
    bool namespaced; /* The manager looks after its own namespace. */
} kc__init_opts;

/* KC_ALREADY_EXISTS if the folder is a project. */
int kc__scaffold_init(const kc__scaffold *s, const kc__init_opts *opts, kc_error *err);

/* A kind whose types live elsewhere. */
typedef struct kc__external_opts {
    const char *path;   /* A header to include, or a folder with zz_generated.h. */
    const char *domain; /* What its group ends with. Defaults to nothing. */
    const char *module; /* The CMake package that has it, "name" or "name@version". */
} kc__external_opts;

/* An image that the controller runs, in a Deployment. */
typedef struct kc__image_opts {
    const char *image;   /* NULL: none. */
    const char *command; /* "memcached,-v". Defaults to the image's. */
    const char *port;    /* Defaults to none. */
    const char *user;    /* A number. Defaults to the image's. */
} kc__image_opts;

typedef struct kc__api_opts {
    const char *group, *version, *kind;
    const char *plural;          /* Defaults to one made of the kind. */
    const char *controller_name; /* Defaults to the kind's. */
    kc__external_opts external;
    kc__image_opts image;
    bool cluster_scoped, no_resource, no_controller;
    bool ssa; /* The controller applies what it owns. */
} kc__api_opts;

/* KC_NOT_FOUND outside of a project; KC_ALREADY_EXISTS if the kind is there and not forced. */
int kc__scaffold_api(const kc__scaffold *s, const kc__api_opts *opts, kc_error *err);

typedef struct kc__webhook_opts {
    const char *group, *version, *kind;
    const char *plural; /* Of a kind that is not in the project yet. */
    kc__external_opts external;
    bool defaulting, validation, conversion;
    const char *defaulting_path, *validation_path; /* Default to the usual ones. */
    const char *spokes; /* Versions that are converted to this one, "v1alpha1,v1beta1". */
} kc__webhook_opts;

/* The kind must be there, unless it is external or one of Kubernetes'. */
int kc__scaffold_webhook(const kc__scaffold *s, const kc__webhook_opts *opts, kc_error *err);

typedef struct kc__edit_opts {
    const bool *multigroup, *namespaced; /* NULL: as it is. */
    const kc__license_opts *license;     /* The same. */
} kc__edit_opts;
int kc__scaffold_edit(const kc__scaffold *s, const kc__edit_opts *opts, kc_error *err);

/* All that the PROJECT of the folder `from` says, made anew in that of `s`. */
int kc__scaffold_again(const kc__scaffold *s, const char *from, kc_error *err);

/* Reads PROJECT. KC_NOT_FOUND with a sentence if there is none. */
kc__project *kc__scaffold_project(const kc__scaffold *s, kc_error *err);

#endif

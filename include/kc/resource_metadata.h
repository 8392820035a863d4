/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource_metadata.h: what a plane knows of a kind beyond its schema: where it belongs, who works
 * on it.
 *
 *     /// Robot is something that works for people.
 *     /// +kc:resource:catalog=machines,prefix=plant,controller=phase-machine,notPortable=true
 *     typedef struct robot { … } robot;
 *
 * `kc generate` makes a robot_metadata of it for programs, and the same as annotations of the
 * CustomResourceDefinition for servers, so that one definition serves a plane of one's own and a
 * cluster.
 */
#ifndef KC_RESOURCE_METADATA_H
#define KC_RESOURCE_METADATA_H

#include "kc/kind.h"

/* Who brings objects of a kind to where they should be. */
typedef enum kc_controller_type {
    KC_CONTROLLER_NONE,
    KC_CONTROLLER_GENERIC,       /* A reconciler. */
    KC_CONTROLLER_PHASE_MACHINE, /* A definition of phases. */
} kc_controller_type;

/* In static memory; texts that were not given are NULL. */
typedef struct kc_resource_metadata {
    const kc_kind *kind;
    const char *description; /* Defaults to the first paragraph of the type's comment. */
    const char *catalog;     /* The group of kinds it is shown in. */
    const char *prefix;      /* Of its path in the simplified REST layer. */
    kc_controller_type controller;
    const char *phase_machine; /* The name of its definition. Defaults to the kind in lower case. */
    bool not_portable;         /* Hidden by a server that is told to be portable. */
} kc_resource_metadata;

/* What the annotations of a CustomResourceDefinition are called. */
#define KC_ANNOTATION_CATALOG       "kubecontroller.io/catalog"
#define KC_ANNOTATION_PREFIX        "kubecontroller.io/prefix"
#define KC_ANNOTATION_CONTROLLER    "kubecontroller.io/controller"
#define KC_ANNOTATION_PHASE_MACHINE "kubecontroller.io/phase-machine"
#define KC_ANNOTATION_NOT_PORTABLE  "kubecontroller.io/not-portable"

#endif

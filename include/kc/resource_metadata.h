/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource_metadata.h: metadata of a kind beyond its schema: its catalog and its controller.
 *
 *     /// Robot is a machine that works for people.
 *     /// +kc:resource:catalog=machines,prefix=plant,controller=phase-machine,notPortable=true
 *     typedef struct robot { … } robot;
 *
 * `kc generate` turns the marker into a robot_metadata for programs, and into annotations of the
 * CRD for servers, so that one definition serves this project's server and any other cluster.
 */
#ifndef KC_RESOURCE_METADATA_H
#define KC_RESOURCE_METADATA_H

#include "kc/kind.h"

/* The type of controller that reconciles a kind. */
typedef enum kc_controller_type {
    KC_CONTROLLER_NONE,
    KC_CONTROLLER_GENERIC,       /* A reconciler. */
    KC_CONTROLLER_PHASE_MACHINE, /* A phase machine. */
} kc_controller_type;

/* In static memory; strings that are not set are NULL. */
typedef struct kc_resource_metadata {
    const kc_kind *kind;
    const char *description; /* Defaults to the first paragraph of the type's comment. */
    const char *catalog;     /* The group of kinds in which it is listed. */
    const char *prefix;      /* Of its path in the simplified REST layer. */
    kc_controller_type controller;
    const char *phase_machine; /* Name of its phase machine. Defaults to the kind in lower case. */
    bool not_portable;         /* Hidden by a server in portable mode. */
} kc_resource_metadata;

/* Names of the annotations of a CRD. */
#define KC_ANNOTATION_CATALOG       "kubecontroller.io/catalog"
#define KC_ANNOTATION_PREFIX        "kubecontroller.io/prefix"
#define KC_ANNOTATION_CONTROLLER    "kubecontroller.io/controller"
#define KC_ANNOTATION_PHASE_MACHINE "kubecontroller.io/phase-machine"
#define KC_ANNOTATION_NOT_PORTABLE  "kubecontroller.io/not-portable"

#endif

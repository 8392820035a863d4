/* SPDX-License-Identifier: Apache-2.0 */
/* apply_tree.h: finds the manifests of a directory. */
#ifndef KC_CLIENT_APPLY_TREE_H
#define KC_CLIENT_APPLY_TREE_H

#include "kc/error.h"

#include <sys/types.h>

/* Entries of all kinds in a directory and its subdirectories; subdirectories; their depth. */
#define KC__APPLY_TREE_MAX_ENTRIES 100000u
#define KC__APPLY_TREE_MAX_DIRS    1000u
#define KC__APPLY_TREE_MAX_DEPTH   32u

/* True for *.yaml, *.yml and *.json, unless the name starts with a dot. This excludes the temporary
 * files of editors: .a.yaml.swp, .#a.yaml, #a.yaml#, a.yaml~. */
bool kc__apply_tree_is_manifest(const char *name);

/* A manifest, or a directory that cannot be read. */
typedef struct kc__apply_tree_file {
    char *path; /* DIR/…/NAME, with DIR as the caller wrote it. */
    /* Set: the path cannot be read (a broken link, a device, missing permission). KC_NOT_FOUND: it
     * was removed during the walk. */
    kc_error err;
} kc__apply_tree_file;

typedef struct kc__apply_tree {
    KC_VEC(kc__apply_tree_file) files; /* Sorted by path, byte by byte. */
    dev_t device;                      /* Of the directory itself. */
    ino_t inode;
} kc__apply_tree;

void kc__apply_tree_done(kc__apply_tree *tree);

typedef struct kc__apply_tree_opts {
    bool recursive;
    /* Called before a directory is read, so that a watch misses no change. Defaults to none. */
    void (*enter)(const char *path, void *user);
    void *user;
} kc__apply_tree_opts;

/*
 * Lists the manifests of a directory. Follows links, also to directories: a volume of a ConfigMap
 * consists of links. A directory that is reachable by several paths is read once. Names that start
 * with a dot are skipped. KC_NOT_FOUND or KC_BAD_REQUEST when the directory itself cannot be read,
 * KC_TOO_LARGE beyond a limit. opts may be NULL. Blocks.
 */
int kc__apply_tree_read(const char *path, const kc__apply_tree_opts *opts, kc__apply_tree *ret,
                        kc_error *err);

#endif

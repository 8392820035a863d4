/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binmeta_types.h: programs that the plane distributes or runs: one object for a version of one,
 * with a build for each system it is there for. A program that is only run has no builds.
 */
#ifndef KC_RECONCILERS_BINMETA_TYPES_H
#define KC_RECONCILERS_BINMETA_TYPES_H

#include "kc/api.h"

/// BinMetaBuild is a file that can be fetched, for one system.
typedef struct bin_meta_build {
    /// The operating system.
    /// +kubebuilder:validation:Enum=linux;darwin;windows;freebsd
    char *os;
    /// The processor.
    /// +kubebuilder:validation:Enum=amd64;arm64;arm;ppc64le;riscv64;s390x
    char *arch;
    /// Where it is.
    /// +kubebuilder:validation:Pattern=`^(https?|file)://[^\s]+$`
    /// +kubebuilder:validation:MaxLength=2048
    char *url;
    /// What its bytes hash to, in hexadecimal digits.
    /// +kc:json=sha256
    /// +kubebuilder:validation:Pattern=`^[0-9a-f]{64}$`
    char *sha256;
    /// How many bytes it has.
    /// +optional
    /// +kubebuilder:validation:Minimum=0
    int64_t *size;
} bin_meta_build;

/// BinMetaSpec is what is known of a version of a program.
typedef struct bin_meta_spec {
    /// The program, as it is called on a command line.
    /// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`
    /// +kubebuilder:validation:MaxLength=128
    char *binary;
    /// Its version: v1.2.3.
    /// +kubebuilder:validation:Pattern=`^v?[0-9]+(\.[0-9]+){0,3}([-+][0-9A-Za-z.+-]+)?$`
    /// +kubebuilder:validation:MaxLength=64
    char *version;
    /// What it does, in a sentence.
    /// +optional
    /// +kubebuilder:validation:MaxLength=1024
    char *description;
    /// The files that can be fetched, one for each system.
    /// +optional
    /// +listType=map
    /// +listMapKey=os
    /// +listMapKey=arch
    /// +kubebuilder:validation:MaxItems=64
    bin_meta_build *builds;
    size_t n_builds;
} bin_meta_spec;

/// BinMeta is a version of a program that the plane distributes or runs.
/// +kubebuilder:object:root=true
/// +kubebuilder:resource:scope=Cluster,shortName=bm,categories=platform
/// +kc:resource:catalog=platform,controller=none
/// +kubebuilder:printcolumn:name=Binary,type=string,JSONPath=.spec.binary
/// +kubebuilder:printcolumn:name=Version,type=string,JSONPath=.spec.version
/// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
typedef struct bin_meta {
    kc_object_meta metadata;
    bin_meta_spec spec;
} bin_meta;

#endif

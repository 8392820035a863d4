/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binmeta_types.h: programs that the control plane distributes or runs. An object is one version of
 * a program, with a build for each system. A program that is only run has no builds.
 */
#ifndef KC_RECONCILERS_BINMETA_TYPES_H
#define KC_RECONCILERS_BINMETA_TYPES_H

#include "kc/api.h"

/// BinMetaBuild is a downloadable file for one system.
typedef struct bin_meta_build {
    /// Operating system.
    /// +kubebuilder:validation:Enum=linux;darwin;windows;freebsd
    char *os;
    /// Processor architecture.
    /// +kubebuilder:validation:Enum=amd64;arm64;arm;ppc64le;riscv64;s390x
    char *arch;
    /// URL of the file.
    /// +kubebuilder:validation:Pattern=`^(https?|file)://[^\s]+$`
    /// +kubebuilder:validation:MaxLength=2048
    char *url;
    /// SHA-256 of the file, hexadecimal.
    /// +kc:json=sha256
    /// +kubebuilder:validation:Pattern=`^[0-9a-f]{64}$`
    char *sha256;
    /// Size of the file in bytes.
    /// +optional
    /// +kubebuilder:validation:Minimum=0
    int64_t *size;
} bin_meta_build;

/// BinMetaSpec describes a version of a program.
typedef struct bin_meta_spec {
    /// Name of the program on a command line.
    /// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`
    /// +kubebuilder:validation:MaxLength=128
    char *binary;
    /// Version, such as v1.2.3.
    /// +kubebuilder:validation:Pattern=`^v?[0-9]+(\.[0-9]+){0,3}([-+][0-9A-Za-z.+-]+)?$`
    /// +kubebuilder:validation:MaxLength=64
    char *version;
    /// Description in one sentence.
    /// +optional
    /// +kubebuilder:validation:MaxLength=1024
    char *description;
    /// Downloadable files, one for each system.
    /// +optional
    /// +listType=map
    /// +listMapKey=os
    /// +listMapKey=arch
    /// +kubebuilder:validation:MaxItems=64
    bin_meta_build *builds;
    size_t n_builds;
} bin_meta_spec;

/// BinMeta is a version of a program that the control plane distributes or runs.
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

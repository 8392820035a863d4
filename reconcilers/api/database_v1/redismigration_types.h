/* SPDX-License-Identifier: Apache-2.0 */
/* redismigration_types.h: one database of a Redis server, copied to another. */
#ifndef KC_RECONCILERS_REDISMIGRATION_TYPES_H
#define KC_RECONCILERS_REDISMIGRATION_TYPES_H

#include "kc/api.h"

/// RedisMigrationSpec is what is to be copied, and where to.
typedef struct redis_migration_spec {
    /// Where the keys are: host:port[/db], redis://[[user]:password@]host:port[/db], or a name: of
    /// a Secret or ConfigMap of this namespace with address, db, and (Secret only) username and
    /// password.
    /// +kubebuilder:validation:MinLength=1
    /// +kubebuilder:validation:MaxLength=1024
    char *source;
    /// Where they are to go; said like source.
    /// +kubebuilder:validation:MinLength=1
    /// +kubebuilder:validation:MaxLength=1024
    char *dest;
    /// Whether dest may have keys already; those that source has too are replaced.
    /// +optional
    bool overwrite;
    /// Stops it where it is.
    /// +optional
    bool paused;
} redis_migration_spec;

/// RedisMigrationStatus is how far it is.
typedef struct redis_migration_status {
    /// The phase it is in: Pending, PreFlight, InFlight, Succeeded, PreFailed or Failed.
    /// +optional
    char *phase;
    /// What is known of each phase.
    /// +optional
    /// +kubebuilder:validation:Schemaless
    /// +kubebuilder:validation:Type=object
    /// +kubebuilder:pruning:PreserveUnknownFields
    kc_raw state;
    /// What people did with it.
    /// +optional
    /// +kubebuilder:validation:Schemaless
    /// +kubebuilder:pruning:PreserveUnknownFields
    kc_raw audit;
} redis_migration_status;

/// RedisMigration copies the keys of one Redis database to another, and compares them.
/// +kubebuilder:object:root=true
/// +kubebuilder:subresource:status
/// +kc:resource:catalog=database,controller=phase-machine
/// +kubebuilder:printcolumn:name=Source,type=string,JSONPath=.status.state.Pending.state.source
/// +kubebuilder:printcolumn:name=Dest,type=string,JSONPath=.status.state.Pending.state.dest
/// +kubebuilder:printcolumn:name=Phase,type=string,JSONPath=.status.phase
/// +kubebuilder:printcolumn:name=Progress,type=string,JSONPath=.status.state.InFlight.steps.copy_keys.state.progress
/// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
typedef struct redis_migration {
    kc_object_meta metadata;
    redis_migration_spec spec;
    /// +optional
    redis_migration_status status;
} redis_migration;

#endif

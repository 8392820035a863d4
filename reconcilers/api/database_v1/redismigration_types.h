/* SPDX-License-Identifier: Apache-2.0 */
/* redismigration_types.h: the migration of one Redis database to another. */
#ifndef KC_RECONCILERS_REDISMIGRATION_TYPES_H
#define KC_RECONCILERS_REDISMIGRATION_TYPES_H

#include "kc/api.h"

/// RedisMigrationSpec is the desired migration.
typedef struct redis_migration_spec {
    /// Source database: host:port[/db], redis://[[user]:password@]host:port[/db], or the name of a
    /// Secret or ConfigMap of this namespace with the keys address, db, and (Secret only) username
    /// and password.
    /// +kubebuilder:validation:MinLength=1
    /// +kubebuilder:validation:MaxLength=1024
    char *source;
    /// Destination database, in the same form as source.
    /// +kubebuilder:validation:MinLength=1
    /// +kubebuilder:validation:MaxLength=1024
    char *dest;
    /// Whether dest may contain keys; keys that source also has are replaced.
    /// +optional
    bool overwrite;
    /// Pauses the migration.
    /// +optional
    bool paused;
} redis_migration_spec;

/// RedisMigrationStatus is the observed state of a migration.
typedef struct redis_migration_status {
    /// Current phase: Pending, PreFlight, InFlight, Succeeded, PreFailed or Failed.
    /// +optional
    char *phase;
    /// State of each phase.
    /// +optional
    /// +kubebuilder:validation:Schemaless
    /// +kubebuilder:validation:Type=object
    /// +kubebuilder:pruning:PreserveUnknownFields
    kc_raw state;
    /// Actions of users.
    /// +optional
    /// +kubebuilder:validation:Schemaless
    /// +kubebuilder:pruning:PreserveUnknownFields
    kc_raw audit;
} redis_migration_status;

/// RedisMigration copies the keys of one Redis database to another and compares them.
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_reloads.h: metrics of a configuration file that the server reads again when it changes,
 * with the names of kube-apiserver:
 *
 *     apiserver_authorization_config_controller_automatic_reloads_total{status="success",…}
 */
#ifndef KC_APISERVER_CONFIG_RELOADS_H
#define KC_APISERVER_CONFIG_RELOADS_H

#include "kc/metrics.h"

/* Size of a hash as text, "sha256:…", with its terminator. */
enum { KC__CONFIG_HASH = 7 + 64 + 1 };

/* The hash of a configuration. */
void kc__config_hash(kc_str text, char out[KC__CONFIG_HASH]);

/* Zero counts nothing. Belongs to one thread. */
typedef struct kc__config_reloads {
    kc_metric *reloads, *reloaded_at, *info;
    char hash[KC__CONFIG_HASH];  /* Of the configuration in effect. */
    char tried[KC__CONFIG_HASH]; /* Of the last file that was read. */
} kc__config_reloads;

/* Registers the metrics. `kind`: "authorization". `registry` may be NULL. */
int kc__config_reloads_init(kc__config_reloads *ret, kc_metrics *registry, const char *kind,
                            kc_error *err);
/* The configuration of the start. */
void kc__config_reloads_start(kc__config_reloads *reloads, kc_str text);

typedef enum kc__config_reload {
    KC__CONFIG_RELOAD_FAILED,
    KC__CONFIG_RELOAD_SAME, /* The file configures the same as before: not counted. */
    KC__CONFIG_RELOAD_APPLIED,
} kc__config_reload;

/* Counts a reload of a file with this text, which is empty if it cannot be read. Each content that
 * fails counts once, however often it is tried. */
void kc__config_reloads_count(kc__config_reloads *reloads, kc_str text, kc__config_reload result);

#endif

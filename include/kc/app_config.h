/* SPDX-License-Identifier: Apache-2.0 */
/*
 * app_config.h: the config file of a program that runs reconcilers, configs/kubecontroller.yaml.
 *
 *     kc_auto(kc_app_config) *config = kc_app_config_load("configs/kubecontroller.yaml", err);
 *
 * Every key is optional; the comment of its field states the default. An unknown key is an error
 * that gives the line and the nearest known key. A value of the wrong type is an error, too. A
 * configuration is constant once loaded, and any number of threads may use it.
 */
#ifndef KC_APP_CONFIG_H
#define KC_APP_CONFIG_H

#include "kc/error.h"
#include "kc/log.h"

/* One entry of the section `reconcilers`: a setting of one reconciler. */
typedef struct kc_app_config_setting {
    const char *reconciler, *name, *value;
    size_t line;
} kc_app_config_setting;

/* The configuration owns its strings, which are never NULL. Lists end with NULL. */
typedef struct kc_app_config {
    struct { /* reconcilermgr: */
        /* metrics-bind-address ":18001", health-probe-bind-address ":18002". An address without a
         * host means loopback. "" disables the server. */
        const char *metrics_address, *health_address;
        int concurrence;        /* concurrence 1: workers of reconcilers that set none. */
        bool apiserver_enabled; /* apiserver-enabled true: also start APIExt. */
        const char *kubeconfig; /* kubeconfig "": search as kubectl does. */
        /* controllers ["*"]: selected names; "-name" excludes one. */
        const char *const *reconcilers;
        bool leader_elect;           /* leader-elect false: only the leader works. */
        const char *lease_namespace; /* leader-elect-namespace "default" */
        /* leader-elect-lease-duration "15s", leader-elect-renew-deadline "10s",
         * leader-elect-retry-period "2s": see election.h. Nanoseconds. */
        int64_t lease_duration, lease_renew, lease_retry;
    } manager;
    struct {                              /* apiextmgr.gin: */
        const char *mode;                 /* server.mode "release", or "debug", "test" */
        bool healthz;                     /* server.healthz true */
        const char *const *middlewares;   /* server.middlewares [] */
        int max_ping_count;               /* server.max-ping-count 3 */
        const char *insecure_address;     /* insecure.bind-address "127.0.0.1" */
        int insecure_port;                /* insecure.bind-port 9080; 0: off */
        const char *secure_address;       /* secure.bind-address "127.0.0.1" */
        int secure_port;                  /* secure.bind-port 9443; 0: off */
        const char *cert_file, *key_file; /* secure.tls.cert-file, secure.tls.private-key-file "" */
    } apiext;
    struct {                             /* log: */
        const char *name;                /* name "" */
        bool development;                /* development false: debug level, with file and line */
        const char *level;               /* level "info", or "error", "warn", "debug" */
        const char *format;              /* format "console", or "json" */
        bool colour;                     /* enable-color false: colour on a terminal */
        bool no_caller;                  /* disable-caller true */
        bool no_stacktrace;              /* disable-stacktrace true; no effect */
        const char *const *output_paths; /* output-paths ["stderr"], or "stdout", files */
        const char *const *error_output_paths; /* error-output-paths ["stderr"] */
    } log;
    /* reconcilers: {NAME: {KEY: VALUE}}. A reconciler's definition lists its keys (kc_setting in
     * app.h); the app checks them. The last element has no reconciler. */
    const kc_app_config_setting *settings;
    const char *file; /* The path it was loaded from, or "". */
    void *memory;     /* Private. */
} kc_app_config;

/* Reads the file. Returns NULL on error, which names the file and the line. */
kc_app_config *kc_app_config_load(const char *path, kc_error *err);
/* Parses text; "" yields the defaults. */
kc_app_config *kc_app_config_parse(kc_str yaml, kc_error *err);
/* NULL is allowed; returns NULL. */
kc_app_config *kc_app_config_free(kc_app_config *config);
KC_AUTO_DEFINE(kc_app_config, kc_app_config_free)

/* Creates the configured logger, with `verbosity` (-1: none) in addition to its level. Fails if an
 * output file cannot be opened. Files stay open for the life of the process. Free with kc_log_free.
 */
kc_log *kc_app_config_log(const kc_app_config *config, int verbosity, kc_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * app_config.h: the config file of a program of reconcilers, configs/kubecontroller.yaml.
 *
 *     kc_auto(kc_app_config) *config = kc_app_config_load("configs/kubecontroller.yaml", err);
 *
 * Every key may be left out, and has the default that stands at its field. A key that there is not
 * is an error with its line and the nearest key there is; so is a value of another type. A
 * configuration is constant once it is loaded, and for any number of threads.
 */
#ifndef KC_APP_CONFIG_H
#define KC_APP_CONFIG_H

#include "kc/error.h"
#include "kc/log.h"

/* One line of the section `reconcilers`: what a single reconciler is told. */
typedef struct kc_app_config_setting {
    const char *reconciler, *name, *value;
    size_t line;
} kc_app_config_setting;

/* Text is its own, and never NULL. Lists end with NULL. */
typedef struct kc_app_config {
    struct { /* reconcilermgr: */
        /* metrics-bind-address ":18001", health-probe-bind-address ":18002". Without a host it is
         * this machine's loopback: neither asks who reads it. "" is nowhere. */
        const char *metrics_address, *health_address;
        int concurrence;                /* concurrence 1: workers of reconcilers that say none. */
        bool apiserver_enabled;         /* apiserver-enabled true: start APIExt too. */
        const char *kubeconfig;         /* kubeconfig "": as kubectl finds it. */
        const char *const *reconcilers; /* controllers ["*"]: which; "-name" is not this one. */
        bool leader_elect;              /* leader-elect false: of several copies one works. */
        const char *lease_namespace;    /* leader-elect-namespace "default" */
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
    struct {                                   /* log: */
        const char *name;                      /* name "" */
        bool development;                      /* development false: debug, and where it was said */
        const char *level;                     /* level "info", or "error", "warn", "debug" */
        const char *format;                    /* format "console", or "json" */
        bool colour;                           /* enable-color false: where there is a terminal */
        bool no_caller;                        /* disable-caller true */
        bool no_stacktrace;                    /* disable-stacktrace true; there are none */
        const char *const *output_paths;       /* output-paths ["stderr"], or "stdout", files */
        const char *const *error_output_paths; /* error-output-paths ["stderr"] */
    } log;
    /* reconcilers: {NAME: {KEY: VALUE}}; which keys there are, a reconciler's definition says
     * (kc_setting in app.h), and an app checks. Ends with one without a reconciler. */
    const kc_app_config_setting *settings;
    const char *file; /* It was loaded from; "". */
    void *memory;     /* Private. */
} kc_app_config;

/* NULL on error, which names the file and the line. Reads the file. */
kc_app_config *kc_app_config_load(const char *path, kc_error *err);
/* From text; "" gives the defaults. */
kc_app_config *kc_app_config_parse(kc_str yaml, kc_error *err);
/* NULL is allowed; returns NULL. */
kc_app_config *kc_app_config_free(kc_app_config *config);
KC_AUTO_DEFINE(kc_app_config, kc_app_config_free)

/* A logger as the configuration says, `verbosity` (-1: none) beside its level. A file that cannot
 * be opened is an error; it is open as long as the process lives. Free it with kc_log_free. */
kc_log *kc_app_config_log(const kc_app_config *config, int verbosity, kc_error *err);

#endif

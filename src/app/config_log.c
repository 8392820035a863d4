/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_log.c: builds a logger from the `log` section of the config file.
 *
 * There is one output: the first of output-paths. Further ones, and a separate one for errors of
 * the logger, are accepted in the file for compatibility; all lines go to one output, so that they
 * are in order.
 */
#include "kc/app_config.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int output_of(const char *path, int *ret_fd, kc_error *err)
{
    if (!path || !strcmp(path, "stderr"))
        *ret_fd = STDERR_FILENO;
    else if (!strcmp(path, "stdout"))
        *ret_fd = STDOUT_FILENO;
    else if ((*ret_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640)) < 0)
        return kc_error_set(err, KC_INVALID, "log.output-paths: cannot open %s: %s", path,
                            strerror(errno));
    return 0;
}

kc_log *kc_app_config_log(const kc_app_config *config, int verbosity, kc_error *err)
{
    kc_log_opts opts = {.verbosity = KC_MAX(verbosity, 0),
                        .caller = config->log.development || !config->log.no_caller,
                        .colour = config->log.colour ? KC_LOG_COLOUR_AUTO : KC_LOG_COLOUR_NEVER};
    kc_log_level_from(kc_cstr(config->log.level), &opts.level);
    kc_log_format_from(kc_cstr(config->log.format), &opts.format);
    if (config->log.development && opts.level < KC_LOG_DEBUG)
        opts.level = KC_LOG_DEBUG;
    if (output_of(config->log.output_paths[0], &opts.fd, err) < 0)
        return NULL;
    kc_log *log = kc_log_new(&opts);
    if (!*config->log.name)
        return log;
    kc_log *named = kc_log_child(log, config->log.name);
    kc_log_free(log);
    return named;
}

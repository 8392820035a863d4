/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text is refused as a kubeconfig, with a message that names it, or gives a configuration with
 * a server; the same when it is loaded by the name of its context.
 */
#include "fuzzing.h"

#include "kc/kubeconfig.h"

static void check_texts(const char *const *texts)
{
    for (; texts && *texts; texts++)
        assert(strlen(*texts) < (size_t)1 << 30);
}

static void check(const kc_config *config)
{
    const kc_exec_config *exec = config->exec;
    assert(config->server && config->ns && strstr(config->server, "://"));
    assert(!config->cert_data.n || config->key_data.n || config->key_file);
    assert(!config->impersonate_groups || config->impersonate_user);
    check_texts(config->impersonate_groups);
    check_texts(config->impersonate_extra);
    if (!exec)
        return;
    assert(exec->command && exec->api_version);
    check_texts(exec->args);
    check_texts(exec->env);
}

static void parse(kc_str text, const kc_config_opts *opts)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_config) *config = kc_config_parse(text, "/folder", opts, &err);
    if (config)
        check(config);
    else
        assert(strstr(kc_error_text(&err), "kubeconfig (text)"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const kc_str text = kc_str_of((const char *)data, size);
    parse(text, NULL);
    parse(text, &(kc_config_opts){.context = "a", .server = "https://h"});
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The config file: any text is parsed or refused with a message, and a parsed config can be used.
 */
#include "fuzzing.h"

#include "kc/app_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_app_config) *config = kc_app_config_parse(kc_str_of((const char *)data, size), &err);
    if (!config) {
        if (!err.reason || !*kc_error_text(&err))
            abort();
        return 0;
    }
    if (config->manager.concurrence < 1 || !config->manager.reconcilers || !config->log.level ||
        config->apiext.secure_port < 0 || config->apiext.secure_port > 65535)
        abort();
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any output of an exec plugin is refused with a message, or gives a token of one line, a
 * certificate with its key, or both.
 */
#include "fuzzing.h"

#include "kubeconfig/exec_credential.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc__exec_credential) credential = {0};
    const kc_str text = kc_str_of((const char *)data, size);
    if (kc__exec_credential_parse(text, "client.authentication.k8s.io/v1", &credential, &err) < 0) {
        assert(err.reason == KC_UNAUTHORIZED && *kc_error_text(&err));
        assert(!credential.token && !credential.cert && !credential.key);
        return 0;
    }
    assert(credential.token || credential.cert);
    assert(!credential.cert == !credential.key);
    assert(!credential.token || !strpbrk(credential.token, "\r\n"));
    return 0;
}

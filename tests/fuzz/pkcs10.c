/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes are refused as a request for a certificate, with a reason, or are one whose subject can
 * be read; any bytes are refused as certificates, with a reason, or are some. Nothing is both.
 */
#include "fuzzing.h"

#include "apiserver/kinds/certificates/pkcs10.h"
#include "kc/base64.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_scoped(kc_buf) text = {0}, why = {0}, subject = {0}, other = {0};
    bool found = false;
    kc_base64_write(&text, kc_str_of((const char *)data, size), KC_BASE64);
    const kc_str base64 = kc_buf_str(&text);
    const bool request = kc__pkcs10_check(base64, &why);
    assert(request == !why.n);
    if (request)
        assert(kc__pkcs10_has_organization(base64, "robots", &found, &subject) && !subject.n);
    const bool certificates = kc__pkcs10_check_certificates(base64, &other);
    assert(certificates == !other.n);
    assert(!request || !certificates);
    return 0;
}

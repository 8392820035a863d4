/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubeconfig.c: writes a kubeconfig for the administrator.
 *
 * It contains the certificates and the key, not their paths, so that the one file can be copied to
 * another machine. It is small enough to be written as text: every value is base64, or an address
 * or name that the caller has validated.
 */
#include "apiserver/serving/kubeconfig.h"

#include "kc/base64.h"
#include "kc/file.h"

/* Appends "    NAME: <the file in base64>\n". */
static int put_file(kc_buf *out, const char *name, const char *path, kc_error *err)
{
    kc_buf text = {0};
    const int failed = kc_file_read(path, KC_FILE_MAX, &text, err);
    if (failed)
        return failed;
    kc_buf_printf(out, "    %s: ", name);
    kc_base64_write(out, kc_buf_str(&text), KC_BASE64);
    kc_buf_putc(out, '\n');
    kc_buf_wipe(&text);
    return 0;
}

static int put_cluster(kc_buf *out, const kc__serving_kubeconfig_opts *opts, kc_error *err)
{
    kc_buf_puts(out, "apiVersion: v1\n"
                     "kind: Config\n"
                     "clusters:\n"
                     "- name: kubecontroller\n"
                     "  cluster:\n");
    kc_buf_printf(out, "    server: %s\n", opts->server);
    if (opts->server_name)
        kc_buf_printf(out, "    tls-server-name: %s\n", opts->server_name);
    return put_file(out, "certificate-authority-data", opts->ca_file, err);
}

static int put_user(kc_buf *out, const kc__serving_kubeconfig_opts *opts, kc_error *err)
{
    kc_buf_puts(out, "users:\n"
                     "- name: admin\n"
                     "  user:\n");
    const int failed = put_file(out, "client-certificate-data", opts->cert_file, err);
    return failed ? failed : put_file(out, "client-key-data", opts->key_file, err);
}

int kc__serving_kubeconfig_write(const char *path, const kc__serving_kubeconfig_opts *opts,
                                 kc_error *err)
{
    kc_buf out = {0};
    int result = put_cluster(&out, opts, err);
    if (!result)
        result = put_user(&out, opts, err);
    kc_buf_puts(&out, "contexts:\n"
                      "- name: admin@kubecontroller\n"
                      "  context:\n"
                      "    cluster: kubecontroller\n"
                      "    user: admin\n"
                      "current-context: admin@kubecontroller\n"
                      "preferences: {}\n");
    if (!result)
        result = kc_file_write(path, 0600, kc_buf_str(&out), err);
    kc_buf_wipe(&out);
    return result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_core.c: columns of small kinds: ConfigMap, Secret, Namespace, ServiceAccount, Lease.
 */
#include "apiserver/printing/columns_internal.h"

#define COLUMNS(of) {.list = of, .n = KC_COUNT(of)}

/* ---- ConfigMap ---- */

static void cell_entries(kc_buf *out, kc__print_row *row)
{
    const kc_value *root = kc__print_row_root(row);
    kc__print_cell_put_number(out, (int64_t)(kc_value_len(kc_value_get(root, "data")) +
                                             kc_value_len(kc_value_get(root, "binaryData"))));
}

static const kc__print_column config_map[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_TEXT_COLUMN(
        "Data", cell_entries,
        "Data contains the configuration data. Each key must consist of alphanumeric "
        "characters, '-', '_' or '.'. Values with non-UTF-8 byte sequences must use "
        "the BinaryData field. The keys stored in Data must not overlap with the keys "
        "in the BinaryData field, this is enforced during validation process."),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_config_map_columns = COLUMNS(config_map);

/* ---- Secret ---- */

static void cell_type(kc_buf *out, kc__print_row *row)
{
    kc__print_cell_put_text(out, kc_value_as_str(kc_value_get(kc__print_row_root(row), "type")));
}

static void cell_data(kc_buf *out, kc__print_row *row)
{
    kc__print_cell_put_number(out,
                              (int64_t)kc_value_len(kc_value_get(kc__print_row_root(row), "data")));
}

static const kc__print_column secret[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_TEXT_COLUMN("Type", cell_type,
                          "Used to facilitate programmatic handling of secret data. More info: "
                          "https://kubernetes.io/docs/concepts/configuration/secret/#secret-types"),
    KC__PRINT_TEXT_COLUMN(
        "Data", cell_data,
        "Data contains the secret data. Each key must consist of alphanumeric "
        "characters, '-', '_' or '.'. The serialized form of the secret data is a "
        "base64 encoded string, representing the arbitrary (possibly non-string) data "
        "value here. Described in https://tools.ietf.org/html/rfc4648#section-4"),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_secret_columns = COLUMNS(secret);

/* ---- Namespace ---- */

static void cell_phase(kc_buf *out, kc__print_row *row)
{
    kc__print_cell_put_text(out, kc_value_as_str(kc_value_get(
                                     kc_value_get(kc__print_row_root(row), "status"), "phase")));
}

static const kc__print_column namespace[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_TEXT_COLUMN("Status", cell_phase, "The status of the namespace"),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_namespace_columns = COLUMNS(namespace);

/* ---- ServiceAccount ---- */

static void cell_secrets(kc_buf *out, kc__print_row *row)
{
    kc__print_cell_put_number(
        out, (int64_t)kc_value_len(kc_value_get(kc__print_row_root(row), "secrets")));
}

static const kc__print_column service_account[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_TEXT_COLUMN(
        "Secrets", cell_secrets,
        "Secrets is a list of the secrets in the same namespace that pods running using this "
        "ServiceAccount are allowed to use. Pods are only limited to this list if this service "
        "account has a \"kubernetes.io/enforce-mountable-secrets\" annotation set to \"true\". "
        "The \"kubernetes.io/enforce-mountable-secrets\" annotation is deprecated since v1.32. "
        "Prefer separate namespaces to isolate access to mounted secrets. This field should not "
        "be used to find auto-generated service account token secrets for use outside of pods. "
        "Instead, tokens can be requested directly using the TokenRequest API, or service account "
        "token secrets can be manually created. More info: "
        "https://kubernetes.io/docs/concepts/configuration/secret"),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_service_account_columns = COLUMNS(service_account);

/* ---- Lease ---- */

static void cell_holder(kc_buf *out, kc__print_row *row)
{
    kc__print_cell_put_text(
        out, kc_value_as_str(
                 kc_value_get(kc_value_get(kc__print_row_root(row), "spec"), "holderIdentity")));
}

static const kc__print_column lease[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_TEXT_COLUMN(
        "Holder", cell_holder,
        "holderIdentity contains the identity of the holder of a current lease. If "
        "Coordinated Leader Election is used, the holder identity must be equal to the "
        "elected LeaseCandidate.metadata.name field."),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_lease_columns = COLUMNS(lease);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_system.c: columns of system kinds: CSI drivers and volume attachments, flow control,
 * certificate requests, admission policies, controller revisions.
 */
#include "apiserver/printing/columns_internal.h"
#include "kc/ascii.h"
#include "kc/duration.h"
#include "kc/kind.h"

#define FLAG_COLUMN(title, of, text) \
    {.name = title, .type = "boolean", .description = text, .cell = of}

static void put_flag(kc_buf *out, const kc_value *value, bool fallback)
{
    kc_buf_puts(out, kc_value_as_bool(value, fallback) ? "true" : "false");
}

/* ---- CSIDriver ---- */

static void cell_attaches(kc_buf *out, kc__print_row *row)
{
    put_flag(out, kc__print_row_at(row, "spec.attachRequired"), true);
}

static void cell_informs(kc_buf *out, kc__print_row *row)
{
    put_flag(out, kc__print_row_at(row, "spec.podInfoOnMount"), false);
}

static void cell_measures(kc_buf *out, kc__print_row *row)
{
    put_flag(out, kc__print_row_at(row, "spec.storageCapacity"), false);
}

static void cell_audiences(kc_buf *out, kc__print_row *row)
{
    const kc_value *requests = kc__print_row_at(row, "spec.tokenRequests");
    if (requests)
        kc__print_append_joined(out, requests, "audience", ",");
    else
        kc__print_cell_put_text(out, KC_STR("<unset>"));
}

static void cell_republishes(kc_buf *out, kc__print_row *row)
{
    put_flag(out, kc__print_row_at(row, "spec.requiresRepublish"), false);
}

static void cell_lifecycles(kc_buf *out, kc__print_row *row)
{
    kc_scoped(kc_buf) text = {0};
    kc_value_each_item (kc__print_row_at(row, "spec.volumeLifecycleModes"), mode)
        kc_buf_printf(&text, "%s%s", text.n ? "," : "", kc_value_as_cstr(mode, ""));
    kc__print_cell_put_text(out, text.n ? kc_buf_str(&text) : KC_STR("<none>"));
}

static const kc__print_column csi_driver[] = {
    KC__PRINT_NAME_COLUMN,
    FLAG_COLUMN("AttachRequired", cell_attaches, "Whether volumes are attached before mounting."),
    FLAG_COLUMN("PodInfoOnMount", cell_informs,
                "Whether the driver receives pod information on mount."),
    FLAG_COLUMN("StorageCapacity", cell_measures, "Whether the driver reports storage capacity."),
    KC__PRINT_TEXT_COLUMN("TokenRequests", cell_audiences,
                          "Audiences of the tokens that the driver requires."),
    FLAG_COLUMN("RequiresRepublish", cell_republishes,
                "Whether volumes are republished periodically."),
    KC__PRINT_TEXT_COLUMN("Modes", cell_lifecycles, "Volume lifecycle modes of the driver."),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_csi_driver_columns = KC__PRINT_COLUMNS(csi_driver);

/* ---- VolumeAttachment ---- */

static void cell_attached(kc_buf *out, kc__print_row *row)
{
    put_flag(out, kc__print_row_at(row, "status.attached"), false);
}

static const kc__print_column attachment[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_PATH_COLUMN("Attacher", "spec.attacher", "", "CSI driver that attaches the volume."),
    KC__PRINT_PATH_COLUMN("PV", "spec.source.persistentVolumeName", "", "Volume to attach."),
    KC__PRINT_PATH_COLUMN("Node", "spec.nodeName", "", "Node to which the volume is attached."),
    FLAG_COLUMN("Attached", cell_attached, "Whether the volume is attached."),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_attachment_columns = KC__PRINT_COLUMNS(attachment);

/* ---- FlowSchema, PriorityLevelConfiguration ---- */

static void cell_missing_level(kc_buf *out, kc__print_row *row)
{
    kc_str status = KC_STR("?");
    kc_value_each_item (kc__print_row_at(row, "status.conditions"), condition)
        if (kc_str_is(kc_value_as_str(kc_value_get(condition, "type")), "Dangling")) {
            status = kc_value_as_str(kc_value_get(condition, "status"));
            break;
        }
    kc__print_cell_put_text(out, status);
}

static const kc__print_column flow_schema[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_PATH_COLUMN("PriorityLevel", "spec.priorityLevelConfiguration.name", "",
                          "Priority level of the matching requests."),
    KC__PRINT_COUNT_COLUMN("MatchingPrecedence", "string", "spec.matchingPrecedence",
                           "Precedence: the matching schema with the lowest number applies."),
    KC__PRINT_PATH_COLUMN("DistinguisherMethod", "spec.distinguisherMethod.type", "<none>",
                          "Method that distinguishes flows."),
    KC__PRINT_AGE_COLUMN,
    KC__PRINT_TEXT_COLUMN("MissingPL", cell_missing_level,
                          "references a broken or non-existent PriorityLevelConfiguration"),
};
const kc__print_columns kc__print_flow_schema_columns = KC__PRINT_COLUMNS(flow_schema);

static const kc__print_column priority_level[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_PATH_COLUMN("Type", "spec.type", "", "Type of the level: Exempt or Limited."),
    KC__PRINT_PATH_COLUMN("NominalConcurrencyShares", "spec.limited.nominalConcurrencyShares",
                          "<none>", "Share of the concurrency limit of the server."),
    KC__PRINT_PATH_COLUMN("Queues", "spec.limited.limitResponse.queuing.queues", "<none>",
                          "Number of queues."),
    KC__PRINT_PATH_COLUMN("HandSize", "spec.limited.limitResponse.queuing.handSize", "<none>",
                          "Number of queues among which a flow chooses."),
    KC__PRINT_PATH_COLUMN("QueueLengthLimit", "spec.limited.limitResponse.queuing.queueLengthLimit",
                          "<none>", "Maximum number of requests in one queue."),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_priority_level_columns = KC__PRINT_COLUMNS(priority_level);

/* ---- CertificateSigningRequest ---- */

static bool has_condition(const kc_value *conditions, const char *type)
{
    kc_value_each_item (conditions, condition)
        if (kc_str_is(kc_value_as_str(kc_value_get(condition, "type")), type))
            return true;
    return false;
}

static void cell_request_state(kc_buf *out, kc__print_row *row)
{
    const kc_value *conditions = kc__print_row_at(row, "status.conditions");
    bool issued = kc_value_as_str(kc__print_row_at(row, "status.certificate")).n > 0;
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, has_condition(conditions, "Denied")     ? "Denied"
                       : has_condition(conditions, "Approved") ? "Approved"
                                                               : "Pending");
    kc_buf_puts(&text, has_condition(conditions, "Failed") ? ",Failed" : "");
    kc_buf_puts(&text, issued ? ",Issued" : "");
    kc__print_cell_put_text(out, kc_buf_str(&text));
}

static void cell_requested_duration(kc_buf *out, kc__print_row *row)
{
    int64_t seconds;
    char text[KC_DURATION_TEXT];
    bool requested = kc_value_as_i64(kc__print_row_at(row, "spec.expirationSeconds"), &seconds);
    kc__print_cell_put_text(out, requested ? kc_duration_human(seconds * 1000000000, text)
                                           : KC_STR("<none>"));
}

static const kc__print_column signing_request[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_AGE_COLUMN,
    KC__PRINT_PATH_COLUMN("SignerName", "spec.signerName", "<none>", "Requested signer."),
    KC__PRINT_PATH_COLUMN("Requestor", "spec.username", "", "User that created the request."),
    KC__PRINT_TEXT_COLUMN("RequestedDuration", cell_requested_duration,
                          "Requested validity of the certificate."),
    KC__PRINT_TEXT_COLUMN("Condition", cell_request_state, "Conditions of the request."),
};
const kc__print_columns kc__print_signing_request_columns = KC__PRINT_COLUMNS(signing_request);

/* ---- admission policies and their bindings ---- */

static void cell_parameter_kind(kc_buf *out, kc__print_row *row)
{
    const kc_value *kind = kc__print_row_at(row, "spec.paramKind");
    kc_scoped(kc_buf) text = {0};
    if (kind)
        kc_buf_printf(&text, "%s/%s", kc_value_as_cstr(kc_value_get(kind, "apiVersion"), ""),
                      kc_value_as_cstr(kc_value_get(kind, "kind"), ""));
    kc__print_cell_put_text(out, kind ? kc_buf_str(&text) : KC_STR("<unset>"));
}

static const kc__print_column admission_policy[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_COUNT_COLUMN(
        "Validations", "integer", "spec.validations",
        "Validations indicates the number of validation rules defined in this configuration"),
    KC__PRINT_TEXT_COLUMN(
        "ParamKind", cell_parameter_kind,
        "ParamKind specifies the kind of resources used to parameterize this policy"),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_admission_policy_columns = KC__PRINT_COLUMNS(admission_policy);

static const kc__print_column mutating_policy[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_COUNT_COLUMN(
        "Mutations", "integer", "spec.mutations",
        "Mutations indicates the number of mutations rules defined in this configuration"),
    KC__PRINT_TEXT_COLUMN(
        "ParamKind", cell_parameter_kind,
        "ParamKind specifies the kind of resources used to parameterize this policy"),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_mutating_policy_columns = KC__PRINT_COLUMNS(mutating_policy);

static void cell_parameters(kc_buf *out, kc__print_row *row)
{
    const kc_value *ref = kc__print_row_at(row, "spec.paramRef");
    const char *name = kc_value_as_cstr(kc_value_get(ref, "name"), "");
    kc_scoped(kc_buf) text = {0};
    if (*name)
        kc_buf_printf(&text, "%s/%s", kc_value_as_cstr(kc_value_get(ref, "namespace"), "*"), name);
    kc__print_cell_put_text(out, text.n ? kc_buf_str(&text) : KC_STR("<unset>"));
}

static const kc__print_column policy_binding[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_PATH_COLUMN("PolicyName", "spec.policyName", "", "Policy that the binding binds."),
    KC__PRINT_TEXT_COLUMN("ParamRef", cell_parameters,
                          "Resource with the parameters of the policy."),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_policy_binding_columns = KC__PRINT_COLUMNS(policy_binding);

/* ---- ControllerRevision ---- */

/* "statefulset.apps/db" */
static void cell_controller(kc_buf *out, kc__print_row *row)
{
    kc_scoped(kc_buf) text = {0};
    kc_value_each_item (kc__print_row_at(row, "metadata.ownerReferences"), owner) {
        if (!kc_value_as_bool(kc_value_get(owner, "controller"), false))
            continue;
        kc_gvk of = kc_gvk_of(kc_value_as_str(kc_value_get(owner, "apiVersion")),
                              kc_value_as_str(kc_value_get(owner, "kind")));
        kc_buf_printf(&text, "%.*s%s%.*s", KC_ARG(of.kind), of.group.n ? "." : "",
                      KC_ARG(of.group));
        for (size_t i = 0; i < text.n; i++)
            text.p[i] = kc_lower(text.p[i]);
        kc_buf_printf(&text, "/%s", kc_value_as_cstr(kc_value_get(owner, "name"), ""));
        break;
    }
    kc__print_cell_put_text(out, text.n ? kc_buf_str(&text) : KC_STR("<none>"));
}

static const kc__print_column revision[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_TEXT_COLUMN("Controller", cell_controller, "Controller of the object"),
    KC__PRINT_COUNT_COLUMN("Revision", "string", "revision", "Revision number."),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_revision_columns = KC__PRINT_COLUMNS(revision);

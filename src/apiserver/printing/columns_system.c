/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_system.c: columns of kinds that run the cluster rather than what runs on it: drivers and
 * attachments of storage, priorities of requests, certificates, policies of admission, revisions.
 */
#include "apiserver/printing/columns_internal.h"
#include "kc/ascii.h"
#include "kc/duration.h"
#include "kc/kind.h"

#define FLAG_COLUMN(title, of, text) \
    {.name = title, .type = "boolean", .description = text, .cell = of}

static void put_flag(kc_buf *out, const kc_value *value, bool otherwise)
{
    kc_buf_puts(out, kc_as_bool(value, otherwise) ? "true" : "false");
}

/* ---- CSIDriver ---- */

static void cell_attaches(kc_buf *out, kc__row *row)
{
    put_flag(out, kc__row_at(row, "spec.attachRequired"), true);
}

static void cell_informs(kc_buf *out, kc__row *row)
{
    put_flag(out, kc__row_at(row, "spec.podInfoOnMount"), false);
}

static void cell_measures(kc_buf *out, kc__row *row)
{
    put_flag(out, kc__row_at(row, "spec.storageCapacity"), false);
}

static void cell_audiences(kc_buf *out, kc__row *row)
{
    const kc_value *requests = kc__row_at(row, "spec.tokenRequests");
    if (requests)
        kc__put_joined(out, requests, "audience", ",");
    else
        kc__cell_put_text(out, KC_STR("<unset>"));
}

static void cell_republishes(kc_buf *out, kc__row *row)
{
    put_flag(out, kc__row_at(row, "spec.requiresRepublish"), false);
}

static void cell_lifecycles(kc_buf *out, kc__row *row)
{
    kc_scoped(kc_buf) text = {0};
    kc_items (kc__row_at(row, "spec.volumeLifecycleModes"), mode)
        kc_buf_printf(&text, "%s%s", text.n ? "," : "", kc_as_cstr(mode, ""));
    kc__cell_put_text(out, text.n ? kc_buf_str(&text) : KC_STR("<none>"));
}

static const kc__column csi_driver[] = {
    KC__NAME_COLUMN,
    FLAG_COLUMN("AttachRequired", cell_attaches, "Whether volumes are attached before mounting."),
    FLAG_COLUMN("PodInfoOnMount", cell_informs, "Whether it is told about the pod."),
    FLAG_COLUMN("StorageCapacity", cell_measures, "Whether it says how much is free."),
    KC__TEXT_COLUMN("TokenRequests", cell_audiences, "For whom it needs tokens."),
    FLAG_COLUMN("RequiresRepublish", cell_republishes, "Whether it is asked again and again."),
    KC__TEXT_COLUMN("Modes", cell_lifecycles, "Which kinds of volumes it has."),
    KC__AGE_COLUMN,
};
const kc__columns kc__csi_driver_columns = KC__COLUMNS(csi_driver);

/* ---- VolumeAttachment ---- */

static void cell_attached(kc_buf *out, kc__row *row)
{
    put_flag(out, kc__row_at(row, "status.attached"), false);
}

static const kc__column attachment[] = {
    KC__NAME_COLUMN,
    KC__PATH_COLUMN("Attacher", "spec.attacher", "", "Who attaches it."),
    KC__PATH_COLUMN("PV", "spec.source.persistentVolumeName", "", "Which volume."),
    KC__PATH_COLUMN("Node", "spec.nodeName", "", "To which node."),
    FLAG_COLUMN("Attached", cell_attached, "Whether it is there."),
    KC__AGE_COLUMN,
};
const kc__columns kc__attachment_columns = KC__COLUMNS(attachment);

/* ---- FlowSchema, PriorityLevelConfiguration ---- */

static void cell_dangles(kc_buf *out, kc__row *row)
{
    kc_str status = KC_STR("?");
    kc_items (kc__row_at(row, "status.conditions"), condition)
        if (kc_str_is(kc_as_str(kc_get(condition, "type")), "Dangling")) {
            status = kc_as_str(kc_get(condition, "status"));
            break;
        }
    kc__cell_put_text(out, status);
}

static const kc__column flow_schema[] = {
    KC__NAME_COLUMN,
    KC__PATH_COLUMN("PriorityLevel", "spec.priorityLevelConfiguration.name", "", "Its level."),
    KC__COUNT_COLUMN("MatchingPrecedence", "string", "spec.matchingPrecedence",
                     "The lowest that matches counts."),
    KC__PATH_COLUMN("DistinguisherMethod", "spec.distinguisherMethod.type", "<none>",
                    "What tells flows apart."),
    KC__AGE_COLUMN,
    KC__TEXT_COLUMN("MissingPL", cell_dangles, "Whether its level is not there."),
};
const kc__columns kc__flow_schema_columns = KC__COLUMNS(flow_schema);

static const kc__column priority_level[] = {
    KC__NAME_COLUMN,
    KC__PATH_COLUMN("Type", "spec.type", "", "Whether it is limited."),
    KC__PATH_COLUMN("NominalConcurrencyShares", "spec.limited.nominalConcurrencyShares", "<none>",
                    "Its share of all requests at a time."),
    KC__PATH_COLUMN("Queues", "spec.limited.limitResponse.queuing.queues", "<none>",
                    "How many queues there are."),
    KC__PATH_COLUMN("HandSize", "spec.limited.limitResponse.queuing.handSize", "<none>",
                    "Among how many a flow chooses."),
    KC__PATH_COLUMN("QueueLengthLimit", "spec.limited.limitResponse.queuing.queueLengthLimit",
                    "<none>", "How many may wait in one."),
    KC__AGE_COLUMN,
};
const kc__columns kc__priority_level_columns = KC__COLUMNS(priority_level);

/* ---- CertificateSigningRequest ---- */

static bool has_condition(const kc_value *conditions, const char *type)
{
    kc_items (conditions, condition)
        if (kc_str_is(kc_as_str(kc_get(condition, "type")), type))
            return true;
    return false;
}

static void cell_request_state(kc_buf *out, kc__row *row)
{
    const kc_value *conditions = kc__row_at(row, "status.conditions");
    bool issued = kc_as_str(kc__row_at(row, "status.certificate")).n > 0;
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, has_condition(conditions, "Denied")     ? "Denied"
                       : has_condition(conditions, "Approved") ? "Approved"
                                                               : "Pending");
    kc_buf_puts(&text, has_condition(conditions, "Failed") ? ",Failed" : "");
    kc_buf_puts(&text, issued ? ",Issued" : "");
    kc__cell_put_text(out, kc_buf_str(&text));
}

static void cell_requested_duration(kc_buf *out, kc__row *row)
{
    int64_t seconds;
    char text[KC_DURATION_TEXT];
    bool asked = kc_as_i64(kc__row_at(row, "spec.expirationSeconds"), &seconds);
    kc__cell_put_text(out,
                      asked ? kc_duration_human(seconds * 1000000000, text) : KC_STR("<none>"));
}

static const kc__column signing_request[] = {
    KC__NAME_COLUMN,
    KC__AGE_COLUMN,
    KC__PATH_COLUMN("SignerName", "spec.signerName", "<none>", "Who is to sign it."),
    KC__PATH_COLUMN("Requestor", "spec.username", "", "Who asks."),
    KC__TEXT_COLUMN("RequestedDuration", cell_requested_duration, "How long it shall be good."),
    KC__TEXT_COLUMN("Condition", cell_request_state, "How far it is."),
};
const kc__columns kc__signing_request_columns = KC__COLUMNS(signing_request);

/* ---- ValidatingAdmissionPolicy and its binding ---- */

static void cell_parameter_kind(kc_buf *out, kc__row *row)
{
    const kc_value *kind = kc__row_at(row, "spec.paramKind");
    kc_scoped(kc_buf) text = {0};
    if (kind)
        kc_buf_printf(&text, "%s/%s", kc_as_cstr(kc_get(kind, "apiVersion"), ""),
                      kc_as_cstr(kc_get(kind, "kind"), ""));
    kc__cell_put_text(out, kind ? kc_buf_str(&text) : KC_STR("<unset>"));
}

static const kc__column admission_policy[] = {
    KC__NAME_COLUMN,
    KC__COUNT_COLUMN("Validations", "integer", "spec.validations", "How many rules it has."),
    KC__TEXT_COLUMN("ParamKind", cell_parameter_kind, "The kind of its parameters."),
    KC__AGE_COLUMN,
};
const kc__columns kc__admission_policy_columns = KC__COLUMNS(admission_policy);

static void cell_parameters(kc_buf *out, kc__row *row)
{
    const kc_value *ref = kc__row_at(row, "spec.paramRef");
    const char *name = kc_as_cstr(kc_get(ref, "name"), "");
    kc_scoped(kc_buf) text = {0};
    if (*name)
        kc_buf_printf(&text, "%s/%s", kc_as_cstr(kc_get(ref, "namespace"), "*"), name);
    kc__cell_put_text(out, text.n ? kc_buf_str(&text) : KC_STR("<unset>"));
}

static const kc__column policy_binding[] = {
    KC__NAME_COLUMN,
    KC__PATH_COLUMN("PolicyName", "spec.policyName", "", "Which policy."),
    KC__TEXT_COLUMN("ParamRef", cell_parameters, "With which parameters."),
    KC__AGE_COLUMN,
};
const kc__columns kc__policy_binding_columns = KC__COLUMNS(policy_binding);

/* ---- ControllerRevision ---- */

/* "statefulset.apps/db" */
static void cell_controller(kc_buf *out, kc__row *row)
{
    kc_scoped(kc_buf) text = {0};
    kc_items (kc__row_at(row, "metadata.ownerReferences"), owner) {
        if (!kc_as_bool(kc_get(owner, "controller"), false))
            continue;
        kc_gvk of =
            kc_gvk_of(kc_as_str(kc_get(owner, "apiVersion")), kc_as_str(kc_get(owner, "kind")));
        kc_buf_printf(&text, "%.*s%s%.*s", KC_ARG(of.kind), of.group.n ? "." : "",
                      KC_ARG(of.group));
        for (size_t i = 0; i < text.n; i++)
            text.p[i] = kc_lower(text.p[i]);
        kc_buf_printf(&text, "/%s", kc_as_cstr(kc_get(owner, "name"), ""));
        break;
    }
    kc__cell_put_text(out, text.n ? kc_buf_str(&text) : KC_STR("<none>"));
}

static const kc__column revision[] = {
    KC__NAME_COLUMN,
    KC__TEXT_COLUMN("Controller", cell_controller, "Whose it is."),
    KC__COUNT_COLUMN("Revision", "string", "revision", "Its number."),
    KC__AGE_COLUMN,
};
const kc__columns kc__revision_columns = KC__COLUMNS(revision);

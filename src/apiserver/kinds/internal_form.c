/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal_form.c: formats values like Kubernetes' internal Go structs.
 *
 * Kubernetes validates its internal types, which have the fields of the API types but no JSON
 * names. Where an error shows such a struct, its fields have Go names, all fields are present, and
 * some are in another place: the host settings of a PodSpec are in its security context.
 *
 *     {"type":"RuntimeDefault"}  ──▶  {"Type":"RuntimeDefault","LocalhostProfile":null}
 *
 * So this code walks the API types and writes every field. A name is the JSON name with an
 * upper-case first letter, except for the rows of `names`; the order is the API's, except for the
 * rows of `orders`. To show another type: check that its names and order are right, and add rows
 * where they are not.
 */
#include "apiserver/kinds/internal_form.h"

#include "apiserver/codec/api_types.h"
#include "apiserver/kinds/line_diff.h"
#include "kc/buf.h"
#include "kc/field_error.h"
#include "kc/json.h"
#include "kc/mem.h"

static const char *const names[][2] = {
    {"apiGroup", "APIGroup"},
    {"apiVersion", "APIVersion"},
    {"awsElasticBlockStore", "AWSElasticBlockStore"},
    {"bool", "BoolValue"},
    {"cel", "CEL"},
    {"cephfs", "CephFS"},
    {"chapAuthDiscovery", "DiscoveryCHAPAuth"},
    {"chapAuthSession", "SessionCHAPAuth"},
    {"cidrs", "CIDRs"},
    {"csi", "CSI"},
    {"dnsConfig", "DNSConfig"},
    {"dnsPolicy", "DNSPolicy"},
    {"fc", "FC"},
    {"fsGroup", "FSGroup"},
    {"fsGroupChangePolicy", "FSGroupChangePolicy"},
    {"fsType", "FSType"},
    {"gcePersistentDisk", "GCEPersistentDisk"},
    {"gmsaCredentialSpec", "GMSACredentialSpec"},
    {"gmsaCredentialSpecName", "GMSACredentialSpecName"},
    {"grpc", "GRPC"},
    {"httpGet", "HTTPGet"},
    {"httpHeaders", "HTTPHeaders"},
    {"int", "IntValue"},
    {"ip", "IP"},
    {"ipBlock", "IPBlock"},
    {"iqn", "IQN"},
    {"iscsi", "ISCSI"},
    {"iscsiInterface", "ISCSIInterface"},
    {"nfs", "NFS"},
    {"nonResourceURLs", "NonResourceURLs"},
    {"os", "OS"},
    {"pdName", "PDName"},
    {"rbd", "RBD"},
    {"seLinuxChangePolicy", "SELinuxChangePolicy"},
    {"seLinuxOptions", "SELinuxOptions"},
    {"storageos", "StorageOS"},
    {"string", "StringValue"},
    {"tcpSocket", "TCPSocket"},
    {"tty", "TTY"},
    {"uid", "UID"},
    {"ttlSecondsAfterFinished", "TTLSecondsAfterFinished"},
    {"version", "VersionValue"},
    {"wwids", "WWIDs"},
};

/* Order of the fields; a field with ^ is taken from the parent. */
static const struct {
    const char *message;
    const char *fields;
} orders[] = {
    {"v1.PodSpec",
     "volumes initContainers containers ephemeralContainers restartPolicy "
     "terminationGracePeriodSeconds activeDeadlineSeconds dnsPolicy nodeSelector "
     "serviceAccountName automountServiceAccountToken nodeName securityContext imagePullSecrets "
     "hostname subdomain setHostnameAsFQDN affinity schedulerName tolerations hostAliases "
     "priorityClassName priority preemptionPolicy dnsConfig readinessGates runtimeClassName "
     "overhead enableServiceLinks topologySpreadConstraints os schedulingGates resourceClaims "
     "resources hostnameOverride"},
    {"v1.PodSecurityContext",
     "^hostNetwork ^hostPID ^hostIPC ^shareProcessNamespace ^hostUsers seLinuxOptions "
     "windowsOptions runAsUser runAsGroup runAsNonRoot supplementalGroups "
     "supplementalGroupsPolicy fsGroup fsGroupChangePolicy sysctls seccompProfile appArmorProfile "
     "seLinuxChangePolicy"},
    {"v1.Container",
     "name image command args workingDir ports envFrom env resources resizePolicy restartPolicy "
     "restartPolicyRules volumeMounts volumeDevices livenessProbe readinessProbe startupProbe "
     "lifecycle terminationMessagePath terminationMessagePolicy imagePullPolicy securityContext "
     "stdin stdinOnce tty"},
    {"v1.EphemeralContainerCommon",
     "name image command args workingDir ports envFrom env resources resizePolicy restartPolicy "
     "restartPolicyRules volumeMounts volumeDevices livenessProbe readinessProbe startupProbe "
     "lifecycle terminationMessagePath terminationMessagePolicy imagePullPolicy securityContext "
     "stdin stdinOnce tty"},
    {"v1.PersistentVolumeClaimSpec",
     "accessModes selector resources volumeName storageClassName volumeMode dataSource "
     "dataSourceRef volumeAttributesClassName"},
    {"v1.PersistentVolumeSource",
     "gcePersistentDisk awsElasticBlockStore hostPath glusterfs nfs rbd quobyte iscsi flexVolume "
     "cinder cephfs fc flocker azureFile vsphereVolume azureDisk photonPersistentDisk "
     "portworxVolume scaleIO local storageos csi"},
    {"v1.EnvVarSource", "fieldRef resourceFieldRef configMapKeyRef secretKeyRef fileKeyRef"},
    {"v1.VolumeProjection",
     "secret downwardAPI configMap serviceAccountToken clusterTrustBundle podCertificate"},
    {"v1.Lifecycle", "postStart preStop stopSignal"},
    {"v1.VolumeSource",
     "hostPath emptyDir gcePersistentDisk awsElasticBlockStore gitRepo secret nfs iscsi glusterfs "
     "persistentVolumeClaim rbd quobyte flexVolume cinder cephfs flocker downwardAPI fc azureFile "
     "configMap vsphereVolume azureDisk photonPersistentDisk projected portworxVolume scaleIO "
     "storageos csi ephemeral image"},
};

/* Maximum size in bytes of a text to diff. */
enum { MOST_COMPARED = 4 << 20 };

typedef struct internal_writer {
    kc_buf *out;
    bool pretty; /* One line per value, indented by one space per level; false: all on one line. */
    int depth;
} internal_writer;

static void write_struct(internal_writer *w, const kc__type_message *message, const kc_value *value,
                         const kc__type_message *above, const kc_value *parent);

static void new_line(internal_writer *w)
{
    if (!w->pretty)
        return;
    kc_buf_putc(w->out, '\n');
    for (int i = 0; i < w->depth; i++)
        kc_buf_putc(w->out, ' ');
}

static void open_with(internal_writer *w, char c)
{
    kc_buf_putc(w->out, c);
    w->depth++;
}

/* `empty`: there is nothing between the brackets. */
static void close_with(internal_writer *w, char c, bool empty)
{
    w->depth--;
    if (!empty)
        new_line(w);
    kc_buf_putc(w->out, c);
}

static void next(internal_writer *w, bool *first)
{
    if (!*first)
        kc_buf_putc(w->out, ',');
    *first = false;
    new_line(w);
}

static void write_key(internal_writer *w, kc_str name)
{
    kc_json_quote(w->out, name);
    kc_buf_puts(w->out, w->pretty ? ": " : ":");
}

static void write_go_name(internal_writer *w, kc_str name)
{
    char go[80];
    size_t n = KC_MIN(name.n, sizeof(go));
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        if (kc_str_is(name, names[i][0])) {
            write_key(w, kc_cstr(names[i][1]));
            return;
        }
    }
    memcpy(go, name.p, n);
    if (n && go[0] >= 'a' && go[0] <= 'z')
        go[0] -= 'a' - 'A';
    write_key(w, (kc_str){go, n});
}

/* ---- values ---- */

/* Writes a value in the API's form: scalars, and types whose internal form is the same. */
static void write_plain(internal_writer *w, const kc_value *value)
{
    bool first = true;
    switch (kc_value_type(value)) {
    case KC_JSON_OBJECT:
        open_with(w, '{');
        kc_value_each_member (value, name, member) {
            if (w->out->failed)
                return;
            next(w, &first);
            write_key(w, name);
            write_plain(w, member);
        }
        break;
    case KC_JSON_ARRAY:
        open_with(w, '[');
        kc_value_each_item (value, item) {
            if (w->out->failed)
                return;
            next(w, &first);
            write_plain(w, item);
        }
        break;
    default: kc_json_write(w->out, value); return;
    }
    close_with(w, kc_value_type(value) == KC_JSON_OBJECT ? '}' : ']', first);
}

static bool is_inner(const kc__type_field *field)
{
    return field->kind == KC__FIELD_MESSAGE &&
           !kc_str_starts(field->message->name, KC_STR("io.k8s.apimachinery."));
}

static void write_one(internal_writer *w, const kc__type_field *field, const kc_value *value,
                      const kc__type_message *message, const kc_value *parent)
{
    if (is_inner(field) && kc_value_type(value) != KC_JSON_NULL)
        write_struct(w, field->message, value, message, parent);
    else
        write_plain(w, value);
}

static void write_internal_list(internal_writer *w, const kc__type_field *field,
                                const kc_value *list)
{
    bool first = true;
    open_with(w, '[');
    kc_value_each_item (list, item) {
        if (w->out->failed)
            return;
        next(w, &first);
        write_one(w, field, item, NULL, NULL);
    }
    close_with(w, ']', first);
}

static const char *scalar_zero(kc__type_field_kind kind)
{
    if (kind == KC__FIELD_STRING)
        return "\"\"";
    if (kind == KC__FIELD_QUANTITY)
        return "\"0\"";
    if (kind == KC__FIELD_BOOL)
        return "false";
    return kind < KC__FIELD_STRING || kind == KC__FIELD_INT_OR_STRING ? "0" : "null";
}

/* Writes Go's zero value of an unset field. */
static void write_zero(internal_writer *w, const kc__type_field *field)
{
    const bool single = field->shape == KC__SINGLE && !(field->marks & KC__POINTER);
    if (single && is_inner(field))
        write_struct(w, field->message, NULL, NULL, NULL);
    else
        kc_buf_puts(w->out, single ? scalar_zero(field->kind) : "null");
}

/* ---- structs ---- */

/* Writes the members of metadata, which the internal struct embeds. */
static void write_internal_members(internal_writer *w, const kc_value *metadata, bool *first)
{
    kc_value_each_member (metadata, name, value) {
        next(w, first);
        write_key(w, name);
        write_plain(w, value);
    }
}

/* The fields of TypeMeta, which an object embeds, are left out if they are empty. */
static bool is_type_meta(const kc__type_message *message)
{
    return !strcmp(message->go_name, "v1.TypeMeta");
}

static void write_internal_field(internal_writer *w, const kc__type_message *message,
                                 const kc__type_field *field, const kc_value *value, bool *first)
{
    const kc_value *member = kc_value_get_str(value, field->name);
    if (!member && is_type_meta(message))
        return;
    if (kc_str_is(field->name, "metadata")) {
        write_internal_members(w, member, first);
        return;
    }
    next(w, first);
    write_go_name(w, field->name);
    if (kc_value_type(member) == KC_JSON_ABSENT || kc_value_type(member) == KC_JSON_NULL ||
        (field->shape != KC__SINGLE && !kc_value_len(member)))
        write_zero(w, field);
    else if (field->shape == KC__REPEATED)
        write_internal_list(w, field, member);
    else if (field->shape == KC__MAPPED)
        write_plain(w, member);
    else
        write_one(w, field, member, message, value);
}

static const char *order_of(const kc__type_message *message)
{
    for (size_t i = 0; message && i < KC_COUNT(orders); i++)
        if (!strcmp(orders[i].message, message->go_name))
            return orders[i].fields;
    return NULL;
}

typedef struct outer {
    const kc__type_message *message;
    const kc_value *value;
} outer;

static void write_ordered(internal_writer *w, const char *order, const kc__type_message *message,
                          const kc_value *value, outer up, bool *first)
{
    kc_str rest = kc_cstr(order);
    while (rest.p) {
        kc_str name = kc_str_cut(&rest, ' ');
        bool above = name.p[0] == '^';
        kc_str bare = kc_str_sub(name, above, name.n);
        const kc__type_message *owner = above ? up.message : message;
        const kc__type_field *field = owner ? kc__type_message_field(owner, bare) : NULL;
        if (field) {
            write_internal_field(w, owner, field, above ? up.value : value, first);
            continue;
        }
        next(w, first);
        write_go_name(w, bare);
        kc_buf_puts(w->out, "null");
    }
}

static void write_internal_fields(internal_writer *w, const kc__type_message *message,
                                  const kc_value *value, outer up, bool *first)
{
    const char *order = order_of(message);
    if (order) {
        write_ordered(w, order, message, value, up, first);
        return;
    }
    for (size_t i = 0; i < message->n_fields; i++) {
        const kc__type_field *field = &message->fields[i];
        if (field->marks & KC__INLINE)
            write_internal_fields(w, field->message, value, up, first);
        else
            write_internal_field(w, message, field, value, first);
    }
}

static void write_struct(internal_writer *w, const kc__type_message *message, const kc_value *value,
                         const kc__type_message *above, const kc_value *parent)
{
    bool first = true;
    open_with(w, '{');
    write_internal_fields(w, message, value, (outer){above, parent}, &first);
    close_with(w, '}', first);
}

static void write_internal_text(kc_buf *out, const char *type, const kc_value *value, bool pretty)
{
    internal_writer w = {.out = out, .pretty = pretty};
    const kc__type_message *message = kc__type_lookup(kc_cstr(type));
    write_struct(&w, message, value, NULL, NULL);
}

const char *kc__internal_form_json(const char *type, const kc_value *value, kc_arena *arena)
{
    /* An error shows at most this much (field_error.h). */
    kc_scoped(kc_buf) out = {.limit = 2 * KC_FIELD_VALUE_MAX};
    write_internal_text(&out, type, value, false);
    return kc_arena_printf(arena, "%s", kc_buf_cstr(&out));
}

const char *kc__internal_form_diff(const char *type, const kc_value *before, const kc_value *after,
                                   kc_arena *arena)
{
    kc_scoped(kc_buf) a = {.limit = MOST_COMPARED}, b = {.limit = MOST_COMPARED}, out = {0};
    write_internal_text(&a, type, before, true);
    write_internal_text(&b, type, after, true);
    if (a.failed || b.failed)
        return "";
    kc__line_diff(kc_buf_str(&a), kc_buf_str(&b), &out);
    return kc_arena_printf(arena, "%s", kc_buf_cstr(&out));
}

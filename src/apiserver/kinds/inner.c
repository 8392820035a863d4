/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inner.c: values as Kubernetes' own structs write themselves.
 *
 * Kubernetes validates types of its own, which have the fields of the API's but no names for JSON.
 * Where an error shows such a struct, its fields have the names of Go, all are there, and some
 * stand elsewhere: what a PodSpec says of the host is in its security context.
 *
 *     {"type":"RuntimeDefault"}  ──▶  {"Type":"RuntimeDefault","LocalhostProfile":null}
 *
 * So this walks the definitions and writes every field. Names are those of JSON with a large first
 * letter, but for the lines of `names`; the order is the API's, but for the lines of `orders`. To
 * show another type: see that its names and order are right, and add lines where they are not.
 */
#include "apiserver/kinds/inner.h"

#include "apiserver/kinds/definition.h"
#include "apiserver/kinds/line_diff.h"
#include "kc/buf.h"
#include "kc/json.h"
#include "kc/mem.h"

static const char *const names[][2] = {
    {"apiGroup", "APIGroup"},
    {"apiVersion", "APIVersion"},
    {"awsElasticBlockStore", "AWSElasticBlockStore"},
    {"cephfs", "CephFS"},
    {"chapAuthDiscovery", "DiscoveryCHAPAuth"},
    {"chapAuthSession", "SessionCHAPAuth"},
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
    {"tcpSocket", "TCPSocket"},
    {"tty", "TTY"},
    {"uid", "UID"},
    {"ttlSecondsAfterFinished", "TTLSecondsAfterFinished"},
    {"wwids", "WWIDs"},
};

/* Fields in their order; those with ^ are the parent's, those with + are newer than the
 * definitions, and so never set. */
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
     "resources +hostnameOverride"},
    {"v1.PodSecurityContext",
     "^hostNetwork ^hostPID ^hostIPC ^shareProcessNamespace ^hostUsers seLinuxOptions "
     "windowsOptions runAsUser runAsGroup runAsNonRoot supplementalGroups "
     "supplementalGroupsPolicy fsGroup fsGroupChangePolicy sysctls seccompProfile appArmorProfile "
     "seLinuxChangePolicy"},
    {"v1.Container",
     "name image command args workingDir ports envFrom env resources resizePolicy restartPolicy "
     "+restartPolicyRules volumeMounts volumeDevices livenessProbe readinessProbe startupProbe "
     "lifecycle terminationMessagePath terminationMessagePolicy imagePullPolicy securityContext "
     "stdin stdinOnce tty"},
    {"v1.EphemeralContainerCommon",
     "name image command args workingDir ports envFrom env resources resizePolicy restartPolicy "
     "+restartPolicyRules volumeMounts volumeDevices livenessProbe readinessProbe startupProbe "
     "lifecycle terminationMessagePath terminationMessagePolicy imagePullPolicy securityContext "
     "stdin stdinOnce tty"},
    {"v1.PersistentVolumeClaimSpec",
     "accessModes selector resources volumeName storageClassName volumeMode dataSource "
     "dataSourceRef volumeAttributesClassName"},
    {"v1.PersistentVolumeSource",
     "gcePersistentDisk awsElasticBlockStore hostPath glusterfs nfs rbd quobyte iscsi flexVolume "
     "cinder cephfs fc flocker azureFile vsphereVolume azureDisk photonPersistentDisk "
     "portworxVolume scaleIO local storageos csi"},
    {"v1.EnvVarSource", "fieldRef resourceFieldRef configMapKeyRef secretKeyRef +fileKeyRef"},
    {"v1.VolumeProjection",
     "secret downwardAPI configMap serviceAccountToken clusterTrustBundle +podCertificate"},
    {"v1.Lifecycle", "postStart preStop +stopSignal"},
    {"v1.VolumeSource",
     "hostPath emptyDir gcePersistentDisk awsElasticBlockStore gitRepo secret nfs iscsi glusterfs "
     "persistentVolumeClaim rbd quobyte flexVolume cinder cephfs flocker downwardAPI fc azureFile "
     "configMap vsphereVolume azureDisk photonPersistentDisk projected portworxVolume scaleIO "
     "storageos csi ephemeral image"},
};

typedef struct writer {
    kc_buf *out;
    bool pretty; /* A line each, indented by one; else all in one line. */
    int depth;
} writer;

static void write_struct(writer *w, const kc__message *message, const kc_value *value,
                         const kc__message *above, const kc_value *parent);

static void new_line(writer *w)
{
    if (!w->pretty)
        return;
    kc_buf_putc(w->out, '\n');
    for (int i = 0; i < w->depth; i++)
        kc_buf_putc(w->out, ' ');
}

static void open_with(writer *w, char c)
{
    kc_buf_putc(w->out, c);
    w->depth++;
}

/* `empty`: nothing stands between the brackets. */
static void close_with(writer *w, char c, bool empty)
{
    w->depth--;
    if (!empty)
        new_line(w);
    kc_buf_putc(w->out, c);
}

static void next(writer *w, bool *first)
{
    if (!*first)
        kc_buf_putc(w->out, ',');
    *first = false;
    new_line(w);
}

static void write_key(writer *w, kc_str name)
{
    kc_json_quote(w->out, name);
    kc_buf_puts(w->out, w->pretty ? ": " : ":");
}

static void write_go_name(writer *w, kc_str name)
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

/* As the API has it: scalars, and types that are the same inside. */
static void write_plain(writer *w, const kc_value *value)
{
    bool first = true;
    switch (kc_type_of(value)) {
    case KC_OBJECT:
        open_with(w, '{');
        kc_members (value, name, member) {
            next(w, &first);
            write_key(w, name);
            write_plain(w, member);
        }
        break;
    case KC_ARRAY:
        open_with(w, '[');
        kc_items (value, item) {
            next(w, &first);
            write_plain(w, item);
        }
        break;
    default: kc_json_write(w->out, value); return;
    }
    close_with(w, kc_type_of(value) == KC_OBJECT ? '}' : ']', first);
}

static bool is_inner(const kc__field *field)
{
    return field->kind == KC__FIELD_MESSAGE &&
           !kc_str_starts(field->message->name, KC_STR("io.k8s.apimachinery."));
}

static void write_one(writer *w, const kc__field *field, const kc_value *value,
                      const kc__message *message, const kc_value *parent)
{
    if (is_inner(field) && kc_type_of(value) != KC_NULL)
        write_struct(w, field->message, value, message, parent);
    else
        write_plain(w, value);
}

static void write_list(writer *w, const kc__field *field, const kc_value *list)
{
    bool first = true;
    open_with(w, '[');
    kc_items (list, item) {
        next(w, &first);
        write_one(w, field, item, NULL, NULL);
    }
    close_with(w, ']', first);
}

static const char *scalar_zero(kc__field_kind kind)
{
    if (kind == KC__FIELD_STRING)
        return "\"\"";
    if (kind == KC__FIELD_QUANTITY)
        return "\"0\"";
    if (kind == KC__FIELD_BOOL)
        return "false";
    return kind < KC__FIELD_STRING || kind == KC__FIELD_INT_OR_STRING ? "0" : "null";
}

/* What Go has where nobody set anything. */
static void write_zero(writer *w, const kc__field *field)
{
    const bool single = field->shape == KC__SINGLE && !(field->marks & KC__POINTER);
    if (single && is_inner(field))
        write_struct(w, field->message, NULL, NULL, NULL);
    else
        kc_buf_puts(w->out, single ? scalar_zero(field->kind) : "null");
}

/* ---- structs ---- */

/* Metadata is a part of the struct it stands in. */
static void write_members(writer *w, const kc_value *metadata, bool *first)
{
    kc_members (metadata, name, value) {
        next(w, first);
        write_key(w, name);
        write_plain(w, value);
    }
}

static void write_field(writer *w, const kc__message *message, const kc__field *field,
                        const kc_value *value, bool *first)
{
    const kc_value *member = kc_get_str(value, field->name);
    if (kc_str_is(field->name, "metadata")) {
        write_members(w, member, first);
        return;
    }
    next(w, first);
    write_go_name(w, field->name);
    if (kc_type_of(member) == KC_ABSENT || kc_type_of(member) == KC_NULL ||
        (field->shape != KC__SINGLE && !kc_len(member)))
        write_zero(w, field);
    else if (field->shape == KC__REPEATED)
        write_list(w, field, member);
    else if (field->shape == KC__MAPPED)
        write_plain(w, member);
    else
        write_one(w, field, member, message, value);
}

static const char *order_of(const kc__message *message)
{
    for (size_t i = 0; message && i < KC_COUNT(orders); i++)
        if (!strcmp(orders[i].message, message->go_name))
            return orders[i].fields;
    return NULL;
}

typedef struct outer {
    const kc__message *message;
    const kc_value *value;
} outer;

static void write_ordered(writer *w, const char *order, const kc__message *message,
                          const kc_value *value, outer up, bool *first)
{
    kc_str rest = kc_cstr(order);
    while (rest.p) {
        kc_str name = kc_str_cut(&rest, ' ');
        bool above = name.p[0] == '^', newer = name.p[0] == '+';
        kc_str bare = kc_str_sub(name, above || newer, name.n);
        const kc__message *owner = above ? up.message : message;
        const kc__field *field = owner && !newer ? kc__message_field(owner, bare) : NULL;
        if (field) {
            write_field(w, owner, field, above ? up.value : value, first);
            continue;
        }
        next(w, first);
        write_go_name(w, bare);
        kc_buf_puts(w->out, "null");
    }
}

static void write_fields(writer *w, const kc__message *message, const kc_value *value, outer up,
                         bool *first)
{
    const char *order = order_of(message);
    if (order) {
        write_ordered(w, order, message, value, up, first);
        return;
    }
    for (size_t i = 0; i < message->n_fields; i++) {
        const kc__field *field = &message->fields[i];
        if (field->marks & KC__INLINE)
            write_fields(w, field->message, value, up, first);
        else
            write_field(w, message, field, value, first);
    }
}

static void write_struct(writer *w, const kc__message *message, const kc_value *value,
                         const kc__message *above, const kc_value *parent)
{
    bool first = true;
    open_with(w, '{');
    write_fields(w, message, value, (outer){above, parent}, &first);
    close_with(w, '}', first);
}

static void write_text(kc_buf *out, const char *type, const kc_value *value, bool pretty)
{
    writer w = {.out = out, .pretty = pretty};
    const kc__message *message = kc__definition_find(kc_cstr(type));
    write_struct(&w, message, value, NULL, NULL);
}

const char *kc__inner_json(const char *type, const kc_value *value, kc_arena *arena)
{
    kc_scoped(kc_buf) out = {0};
    write_text(&out, type, value, false);
    return kc_arena_printf(arena, "%s", kc_buf_cstr(&out));
}

const char *kc__inner_diff(const char *type, const kc_value *before, const kc_value *after,
                           kc_arena *arena)
{
    kc_scoped(kc_buf) a = {0}, b = {0}, out = {0};
    write_text(&a, type, before, true);
    write_text(&b, type, after, true);
    kc__line_diff(kc_buf_str(&a), kc_buf_str(&b), &out);
    return kc_arena_printf(arena, "%s", kc_buf_cstr(&out));
}

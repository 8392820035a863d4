/* SPDX-License-Identifier: Apache-2.0 */
/*
 * messages.c: the tables of etcd's messages: field number and member, in the order of the numbers.
 *
 * Numbers are those of rpc.proto and kv.proto of etcd 3.5. A field that the client has no use for
 * has no row: the decoder skips it.
 */
#include "etcd/messages.h"

#define TABLE(name) kc__etcd_##name##_table
/* Rows of the message whose struct ROWS names. */
#define FIELD(number, member)           KC__ETCD_PROTO_FIELD(number, ROWS, member)
#define PRESENT(number, member)         KC__ETCD_PROTO_PRESENT(number, ROWS, member)
#define NESTED(number, member, table)   KC__ETCD_PROTO_NESTED(number, ROWS, member, TABLE(table))
#define REPEATED(number, member, table) KC__ETCD_PROTO_REPEATED(number, ROWS, member, TABLE(table))

#define ROWS kc__etcd_header
static const kc__etcd_proto_field header_rows[] = {
    FIELD(1, cluster_id),
    FIELD(2, member_id),
    FIELD(3, revision),
    FIELD(4, raft_term),
};
#undef ROWS

#define ROWS kc__etcd_key_value
static const kc__etcd_proto_field key_value_rows[] = {
    FIELD(1, key),     FIELD(2, create_revision), FIELD(3, mod_revision),
    FIELD(4, version), FIELD(5, value),           FIELD(6, lease),
};
#undef ROWS

/* ---- KV ---- */

#define ROWS kc__etcd_range_request
static const kc__etcd_proto_field range_request_rows[] = {
    FIELD(1, key),
    FIELD(2, range_end),
    FIELD(3, limit),
    FIELD(4, revision),
    FIELD(5, sort_order),
    FIELD(6, sort_target),
    FIELD(7, serializable),
    FIELD(8, keys_only),
    FIELD(9, count_only),
    FIELD(10, min_mod_revision),
    FIELD(11, max_mod_revision),
    FIELD(12, min_create_revision),
    FIELD(13, max_create_revision),
};
#undef ROWS

#define ROWS kc__etcd_range_response
static const kc__etcd_proto_field range_response_rows[] = {
    NESTED(1, header, header),
    REPEATED(2, kvs, key_value),
    FIELD(3, more),
    FIELD(4, count),
};
#undef ROWS

#define ROWS kc__etcd_put_request
static const kc__etcd_proto_field put_request_rows[] = {
    FIELD(1, key),     FIELD(2, value),        FIELD(3, lease),
    FIELD(4, prev_kv), FIELD(5, ignore_value), FIELD(6, ignore_lease),
};
#undef ROWS

#define ROWS kc__etcd_put_response
static const kc__etcd_proto_field put_response_rows[] = {
    NESTED(1, header, header),
    NESTED(2, prev_kv, key_value),
};
#undef ROWS

#define ROWS kc__etcd_delete_range_request
static const kc__etcd_proto_field delete_range_request_rows[] = {
    FIELD(1, key),
    FIELD(2, range_end),
    FIELD(3, prev_kv),
};
#undef ROWS

#define ROWS kc__etcd_delete_range_response
static const kc__etcd_proto_field delete_range_response_rows[] = {
    NESTED(1, header, header),
    FIELD(2, deleted),
    REPEATED(3, prev_kvs, key_value),
};
#undef ROWS

/* The members of the oneof are absent if they are zero, which etcd reads as zero; an absent value
 * would make the comparison true, so an empty one is present. */
#define ROWS kc__etcd_compare
static const kc__etcd_proto_field compare_rows[] = {
    FIELD(1, result),  FIELD(2, target),          FIELD(3, key),
    FIELD(4, version), FIELD(5, create_revision), FIELD(6, mod_revision),
    PRESENT(7, value), FIELD(8, lease),           FIELD(64, range_end),
};
#undef ROWS

#define ROWS kc__etcd_request_op
static const kc__etcd_proto_field request_op_rows[] = {
    NESTED(1, range, range_request),
    NESTED(2, put, put_request),
    NESTED(3, delete_range, delete_range_request),
    NESTED(4, txn, txn_request),
};
#undef ROWS

#define ROWS kc__etcd_response_op
static const kc__etcd_proto_field response_op_rows[] = {
    NESTED(1, range, range_response),
    NESTED(2, put, put_response),
    NESTED(3, delete_range, delete_range_response),
    NESTED(4, txn, txn_response),
};
#undef ROWS

#define ROWS kc__etcd_txn_request
static const kc__etcd_proto_field txn_request_rows[] = {
    REPEATED(1, compare, compare),
    REPEATED(2, success, request_op),
    REPEATED(3, failure, request_op),
};
#undef ROWS

#define ROWS kc__etcd_txn_response
static const kc__etcd_proto_field txn_response_rows[] = {
    NESTED(1, header, header),
    FIELD(2, succeeded),
    REPEATED(3, responses, response_op),
};
#undef ROWS

#define ROWS kc__etcd_compaction_request
static const kc__etcd_proto_field compaction_request_rows[] = {
    FIELD(1, revision),
    FIELD(2, physical),
};
#undef ROWS

#define ROWS kc__etcd_header_response
static const kc__etcd_proto_field header_response_rows[] = {
    NESTED(1, header, header),
};
#undef ROWS

/* ---- Watch ---- */

#define ROWS kc__etcd_watch_create_request
static const kc__etcd_proto_field watch_create_request_rows[] = {
    FIELD(1, key),     FIELD(2, range_end), FIELD(3, start_revision), FIELD(4, progress_notify),
    FIELD(6, prev_kv), FIELD(7, watch_id),  FIELD(8, fragment),
};
#undef ROWS

#define ROWS kc__etcd_watch_cancel_request
static const kc__etcd_proto_field watch_cancel_request_rows[] = {
    FIELD(1, watch_id),
};
#undef ROWS

#define ROWS kc__etcd_watch_request
static const kc__etcd_proto_field watch_request_rows[] = {
    NESTED(1, create, watch_create_request),
    NESTED(2, cancel, watch_cancel_request),
    NESTED(3, progress, empty),
};
#undef ROWS

#define ROWS kc__etcd_event
static const kc__etcd_proto_field event_rows[] = {
    FIELD(1, type),
    NESTED(2, kv, key_value),
    NESTED(3, prev_kv, key_value),
};
#undef ROWS

#define ROWS kc__etcd_watch_response
static const kc__etcd_proto_field watch_response_rows[] = {
    NESTED(1, header, header), FIELD(2, watch_id),          FIELD(3, created),
    FIELD(4, canceled),        FIELD(5, compact_revision),  FIELD(6, cancel_reason),
    FIELD(7, fragment),        REPEATED(11, events, event),
};
#undef ROWS

/* ---- Lease ---- */

#define ROWS kc__etcd_lease_grant_request
static const kc__etcd_proto_field lease_grant_request_rows[] = {
    FIELD(1, ttl),
    FIELD(2, id),
};
#undef ROWS

#define ROWS kc__etcd_lease_grant_response
static const kc__etcd_proto_field lease_grant_response_rows[] = {
    NESTED(1, header, header),
    FIELD(2, id),
    FIELD(3, ttl),
    FIELD(4, error),
};
#undef ROWS

#define ROWS kc__etcd_lease_request
static const kc__etcd_proto_field lease_request_rows[] = {
    FIELD(1, id),
};
#undef ROWS

#define ROWS kc__etcd_lease_keep_alive_response
static const kc__etcd_proto_field lease_keep_alive_response_rows[] = {
    NESTED(1, header, header),
    FIELD(2, id),
    FIELD(3, ttl),
};
#undef ROWS

#define ROWS kc__etcd_lease_time_to_live_request
static const kc__etcd_proto_field lease_time_to_live_request_rows[] = {
    FIELD(1, id),
    FIELD(2, keys),
};
#undef ROWS

#define ROWS kc__etcd_lease_time_to_live_response
static const kc__etcd_proto_field lease_time_to_live_response_rows[] = {
    NESTED(1, header, header), FIELD(2, id), FIELD(3, ttl), FIELD(4, granted_ttl), FIELD(5, keys),
};
#undef ROWS

/* ---- Maintenance, Cluster, Auth ---- */

#define ROWS kc__etcd_status_response
static const kc__etcd_proto_field status_response_rows[] = {
    NESTED(1, header, header),
    FIELD(2, version),
    FIELD(3, db_size),
    FIELD(4, leader),
    FIELD(5, raft_index),
    FIELD(6, raft_term),
    FIELD(7, raft_applied_index),
    FIELD(8, errors),
    FIELD(9, db_size_in_use),
    FIELD(10, is_learner),
};
#undef ROWS

#define ROWS kc__etcd_snapshot_response
static const kc__etcd_proto_field snapshot_response_rows[] = {
    NESTED(1, header, header),
    FIELD(2, remaining_bytes),
    FIELD(3, blob),
};
#undef ROWS

#define ROWS kc__etcd_member
static const kc__etcd_proto_field member_rows[] = {
    FIELD(1, id), FIELD(2, name), FIELD(3, peer_urls), FIELD(4, client_urls), FIELD(5, is_learner),
};
#undef ROWS

#define ROWS kc__etcd_member_list_request
static const kc__etcd_proto_field member_list_request_rows[] = {
    FIELD(1, linearizable),
};
#undef ROWS

#define ROWS kc__etcd_member_list_response
static const kc__etcd_proto_field member_list_response_rows[] = {
    NESTED(1, header, header),
    REPEATED(2, members, member),
};
#undef ROWS

#define ROWS kc__etcd_authenticate_request
static const kc__etcd_proto_field authenticate_request_rows[] = {
    FIELD(1, name),
    FIELD(2, password),
};
#undef ROWS

#define ROWS kc__etcd_authenticate_response
static const kc__etcd_proto_field authenticate_response_rows[] = {
    NESTED(1, header, header),
    FIELD(2, token),
};
#undef ROWS

#define MESSAGE(name, struct_name)                    \
    const kc__etcd_proto_message TABLE(struct_name) = \
        KC__ETCD_PROTO_MESSAGE(#name, kc__etcd_##struct_name, struct_name##_rows);
KC__ETCD_MESSAGES(MESSAGE)

const kc__etcd_proto_message kc__etcd_empty_table = {.name = "Empty",
                                                     .size = sizeof(kc__etcd_empty)};

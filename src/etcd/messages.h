/* SPDX-License-Identifier: Apache-2.0 */
/*
 * messages.h: the messages of etcd's v3 API that the client uses, as structs with tables (proto.h).
 *
 * Names and meanings are those of etcd's rpc.proto; only what is not obvious has a comment here.
 * Requests are filled by callers, responses point into the bytes that were received. A pointer to
 * a struct is NULL where the message lacks the field.
 *
 * To add a message: a struct here, its rows in messages.c, and for a unary method one line in
 * KC__ETCD_METHODS (etcd.h).
 */
#ifndef KC_ETCD_MESSAGES_H
#define KC_ETCD_MESSAGES_H

#include "etcd/proto.h"

typedef struct kc__etcd_header {
    uint64_t cluster_id, member_id;
    int64_t revision; /* Of the store when the request was processed. */
    uint64_t raft_term;
} kc__etcd_header;

typedef struct kc__etcd_key_value {
    kc_str key, value;
    int64_t create_revision, mod_revision, version;
    int64_t lease;
} kc__etcd_key_value;

typedef KC__ETCD_LIST(kc__etcd_key_value) kc__etcd_key_values;

/* ---- KV ---- */

typedef enum kc__etcd_sort_order {
    KC__ETCD_SORT_NONE,
    KC__ETCD_SORT_ASCEND,
    KC__ETCD_SORT_DESCEND,
} kc__etcd_sort_order;

typedef enum kc__etcd_sort_target {
    KC__ETCD_SORT_KEY,
    KC__ETCD_SORT_VERSION,
    KC__ETCD_SORT_CREATE,
    KC__ETCD_SORT_MOD,
    KC__ETCD_SORT_VALUE,
} kc__etcd_sort_target;

typedef struct kc__etcd_range_request {
    kc_str key;
    kc_str range_end; /* Exclusive. Empty: only `key`; "\0": all keys from `key` on. */
    int64_t limit, revision;
    kc__etcd_sort_order sort_order;
    kc__etcd_sort_target sort_target;
    bool serializable; /* A read of the member, which may be stale. */
    bool keys_only, count_only;
    int64_t min_mod_revision, max_mod_revision, min_create_revision, max_create_revision;
} kc__etcd_range_request;

typedef struct kc__etcd_range_response {
    const kc__etcd_header *header;
    kc__etcd_key_values kvs;
    bool more;
    int64_t count; /* Of all keys in the range, beyond the limit, too. */
} kc__etcd_range_response;

typedef struct kc__etcd_put_request {
    kc_str key, value;
    int64_t lease;
    bool prev_kv, ignore_value, ignore_lease;
} kc__etcd_put_request;

typedef struct kc__etcd_put_response {
    const kc__etcd_header *header;
    const kc__etcd_key_value *prev_kv;
} kc__etcd_put_response;

typedef struct kc__etcd_delete_range_request {
    kc_str key, range_end;
    bool prev_kv;
} kc__etcd_delete_range_request;

typedef struct kc__etcd_delete_range_response {
    const kc__etcd_header *header;
    int64_t deleted;
    kc__etcd_key_values prev_kvs;
} kc__etcd_delete_range_response;

typedef enum kc__etcd_compare_result {
    KC__ETCD_EQUAL,
    KC__ETCD_GREATER,
    KC__ETCD_LESS,
    KC__ETCD_NOT_EQUAL,
} kc__etcd_compare_result;

typedef enum kc__etcd_compare_target {
    KC__ETCD_COMPARE_VERSION,
    KC__ETCD_COMPARE_CREATE,
    KC__ETCD_COMPARE_MOD,
    KC__ETCD_COMPARE_VALUE,
    KC__ETCD_COMPARE_LEASE,
} kc__etcd_compare_target;

/* Set `target` and the field that it names. */
typedef struct kc__etcd_compare {
    kc__etcd_compare_result result;
    kc__etcd_compare_target target;
    kc_str key, range_end;
    int64_t version, create_revision, mod_revision, lease;
    kc_str value; /* Its pointer is not NULL for the target VALUE, also if it is empty. */
} kc__etcd_compare;

struct kc__etcd_txn_request;
struct kc__etcd_txn_response;

/* One of them is set. */
typedef struct kc__etcd_request_op {
    const kc__etcd_range_request *range;
    const kc__etcd_put_request *put;
    const kc__etcd_delete_range_request *delete_range;
    const struct kc__etcd_txn_request *txn;
} kc__etcd_request_op;

typedef struct kc__etcd_response_op {
    const kc__etcd_range_response *range;
    const kc__etcd_put_response *put;
    const kc__etcd_delete_range_response *delete_range;
    const struct kc__etcd_txn_response *txn;
} kc__etcd_response_op;

typedef struct kc__etcd_txn_request {
    KC__ETCD_LIST(kc__etcd_compare) compare;
    KC__ETCD_LIST(kc__etcd_request_op) success, failure;
} kc__etcd_txn_request;

typedef struct kc__etcd_txn_response {
    const kc__etcd_header *header;
    bool succeeded;
    KC__ETCD_LIST(kc__etcd_response_op) responses;
} kc__etcd_txn_response;

typedef struct kc__etcd_compaction_request {
    int64_t revision;
    bool physical; /* Respond after the revisions are removed from the database. */
} kc__etcd_compaction_request;

/* Of methods whose response has nothing else. */
typedef struct kc__etcd_header_response {
    const kc__etcd_header *header;
} kc__etcd_header_response;

/* ---- Watch ---- */

typedef struct kc__etcd_watch_create_request {
    kc_str key, range_end;
    int64_t start_revision;
    bool progress_notify, prev_kv, fragment;
    int64_t watch_id;
} kc__etcd_watch_create_request;

typedef struct kc__etcd_watch_cancel_request {
    int64_t watch_id;
} kc__etcd_watch_cancel_request;

/* A message without fields. */
typedef struct kc__etcd_empty {
    char nothing;
} kc__etcd_empty;

/* One of them is set. */
typedef struct kc__etcd_watch_request {
    const kc__etcd_watch_create_request *create;
    const kc__etcd_watch_cancel_request *cancel;
    const kc__etcd_empty *progress;
} kc__etcd_watch_request;

typedef enum kc__etcd_event_type { KC__ETCD_PUT_EVENT, KC__ETCD_DELETE_EVENT } kc__etcd_event_type;

typedef struct kc__etcd_event {
    kc__etcd_event_type type;
    const kc__etcd_key_value *kv; /* Of a deletion only key and mod_revision. */
    const kc__etcd_key_value *prev_kv;
} kc__etcd_event;

typedef KC__ETCD_LIST(kc__etcd_event) kc__etcd_events;

typedef struct kc__etcd_watch_response {
    const kc__etcd_header *header;
    int64_t watch_id;
    bool created, canceled;
    int64_t compact_revision;
    kc_str cancel_reason;
    bool fragment; /* The next response of the watch continues this one. */
    kc__etcd_events events;
} kc__etcd_watch_response;

/* ---- Lease ---- */

typedef struct kc__etcd_lease_grant_request {
    int64_t ttl; /* Seconds. */
    int64_t id;  /* 0: the server chooses. */
} kc__etcd_lease_grant_request;

typedef struct kc__etcd_lease_grant_response {
    const kc__etcd_header *header;
    int64_t id, ttl;
    kc_str error;
} kc__etcd_lease_grant_response;

typedef struct kc__etcd_lease_request {
    int64_t id;
} kc__etcd_lease_request;

typedef struct kc__etcd_lease_keep_alive_response {
    const kc__etcd_header *header;
    int64_t id, ttl;
} kc__etcd_lease_keep_alive_response;

typedef struct kc__etcd_lease_time_to_live_request {
    int64_t id;
    bool keys;
} kc__etcd_lease_time_to_live_request;

typedef struct kc__etcd_lease_time_to_live_response {
    const kc__etcd_header *header;
    int64_t id;
    int64_t ttl; /* -1: the lease does not exist. */
    int64_t granted_ttl;
    kc__etcd_strs keys;
} kc__etcd_lease_time_to_live_response;

/* ---- Maintenance, Cluster, Auth ---- */

typedef struct kc__etcd_status_response {
    const kc__etcd_header *header;
    kc_str version;
    int64_t db_size, db_size_in_use;
    uint64_t leader, raft_index, raft_term, raft_applied_index;
    kc__etcd_strs errors;
    bool is_learner;
} kc__etcd_status_response;

typedef struct kc__etcd_snapshot_response {
    const kc__etcd_header *header;
    uint64_t remaining_bytes;
    kc_str blob;
} kc__etcd_snapshot_response;

typedef struct kc__etcd_member {
    uint64_t id;
    kc_str name;
    kc__etcd_strs peer_urls, client_urls;
    bool is_learner;
} kc__etcd_member;

typedef struct kc__etcd_member_list_request {
    bool linearizable;
} kc__etcd_member_list_request;

typedef struct kc__etcd_member_list_response {
    const kc__etcd_header *header;
    KC__ETCD_LIST(kc__etcd_member) members;
} kc__etcd_member_list_response;

typedef struct kc__etcd_authenticate_request {
    kc_str name, password;
} kc__etcd_authenticate_request;

typedef struct kc__etcd_authenticate_response {
    const kc__etcd_header *header;
    kc_str token;
} kc__etcd_authenticate_response;

/* ---- tables ---- */

/* Name of the message in rpc.proto, name of the struct. */
#define KC__ETCD_MESSAGES(X)                                \
    X(ResponseHeader, header)                               \
    X(KeyValue, key_value)                                  \
    X(RangeRequest, range_request)                          \
    X(RangeResponse, range_response)                        \
    X(PutRequest, put_request)                              \
    X(PutResponse, put_response)                            \
    X(DeleteRangeRequest, delete_range_request)             \
    X(DeleteRangeResponse, delete_range_response)           \
    X(Compare, compare)                                     \
    X(RequestOp, request_op)                                \
    X(ResponseOp, response_op)                              \
    X(TxnRequest, txn_request)                              \
    X(TxnResponse, txn_response)                            \
    X(CompactionRequest, compaction_request)                \
    X(HeaderResponse, header_response)                      \
    X(WatchCreateRequest, watch_create_request)             \
    X(WatchCancelRequest, watch_cancel_request)             \
    X(WatchRequest, watch_request)                          \
    X(Event, event)                                         \
    X(WatchResponse, watch_response)                        \
    X(LeaseGrantRequest, lease_grant_request)               \
    X(LeaseGrantResponse, lease_grant_response)             \
    X(LeaseRequest, lease_request)                          \
    X(LeaseKeepAliveResponse, lease_keep_alive_response)    \
    X(LeaseTimeToLiveRequest, lease_time_to_live_request)   \
    X(LeaseTimeToLiveResponse, lease_time_to_live_response) \
    X(StatusResponse, status_response)                      \
    X(SnapshotResponse, snapshot_response)                  \
    X(Member, member)                                       \
    X(MemberListRequest, member_list_request)               \
    X(MemberListResponse, member_list_response)             \
    X(AuthenticateRequest, authenticate_request)            \
    X(AuthenticateResponse, authenticate_response)

#define KC__ETCD_MESSAGE_EXTERN(name, struct_name) \
    extern const kc__etcd_proto_message kc__etcd_##struct_name##_table;
KC__ETCD_MESSAGES(KC__ETCD_MESSAGE_EXTERN)
#undef KC__ETCD_MESSAGE_EXTERN
extern const kc__etcd_proto_message kc__etcd_empty_table;

#endif

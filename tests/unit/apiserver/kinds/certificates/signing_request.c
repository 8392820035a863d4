/* SPDX-License-Identifier: Apache-2.0 */
/* CertificateSigningRequests: requester, validation, approval. The texts are those of
 * kube-apiserver; the conversation `certificates` has more of them. */
#include "api_testing.h"

#include "apiserver/kinds/certificates/pkcs10.h"

/* /CN=jane/O=dev */
#define REQUEST                                                                      \
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIV01IOENBUUF3SFRFTk1Bc0dBMV" \
    "VFQXd3RWFtRnVaVEVNTUFvR0ExVUVDZ3dEWkdWMk1Ga3dFd1lIS29aSQp6ajBDQVFZSUtvWkl6ajBE" \
    "QVFjRFFnQUVGSUpmRUN1MWRvbDdDTkJMM0xsTGFSeWVPVmhublVtb05Pc2pSRzY2CnM0NnhlZG01d3" \
    "pYYWhVbVNKcmpOOGp3Z0NVMzRyclpoZkNRTnJOVzk3cytaOHFBQU1Bb0dDQ3FHU000OUJBTUMKQTBj" \
    "QU1FUUNJRUNhR1FvUS84czd4ZzNtUmlqeUxDTXFYQndmdHBmaXRQRTBwdjAxb0hlR0FpQit2RVNQej" \
    "NtSgpKbk5kSGhhVTZ4cmdWcTZxeHhYSGFlVUxvM3FlQlgzU1pBPT0KLS0tLS1FTkQgQ0VSVElGSUNB" \
    "VEUgUkVRVUVTVC0tLS0tCg=="
/* The same with a wrong signature. */
#define FORGED                                                                       \
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIV01IOENBUUF3SFRFTk1Bc0dBMV" \
    "VFQXd3RWFtRnVaVEVNTUFvR0ExVUVDZ3dEWkdWMk1Ga3dFd1lIS29aSXpqMENBUVlJS29aSXpqMERB" \
    "UWNEUWdBRUZJSmZFQ3UxZG9sN0NOQkwzTGxMYVJ5ZU9WaG5uVW1vTk9zalJHNjZzNDZ4ZWRtNXd6WG" \
    "FoVW1TSnJqTjhqd2dDVTM0cnJaaGZDUU5yTlc5N3MrWjhxQUFNQW9HQ0NxR1NNNDlCQU1DQTBjQU1F" \
    "UUNJRUNhR1FvUS84czd4ZzNtUmlqeUxDTXFYQndmdHBmaXRQRTBwdjAxb0hlR0FpQit2RVNQejNtSk" \
    "puTmRIaGFVNnhyZ1ZxNnF4eFhIYWVVTG8zcWVCWHpTWkE9PQotLS0tLUVORCBDRVJUSUZJQ0FURSBS" \
    "RVFVRVNULS0tLS0K"
/* /CN=root/O=system:masters */
#define MASTERS                                                                      \
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIak1JR0tBZ0VBTUNneERUQUxCZ0" \
    "5WQkFNTUJISnZiM1F4RnpBVkJnTlZCQW9NRG5ONWMzUmxiVHB0WVhOMApaWEp6TUZrd0V3WUhLb1pJ" \
    "emowQ0FRWUlLb1pJemowREFRY0RRZ0FFRXkyZU5VWDEyZUJSM296bk5jeUZsNXhHCkJpY2U2V3Y2V0" \
    "E4VVVISnJybnJZdkw3SzNWVWhueXYxcFdqQjRJdUhYYk40N29KeWNxbWx0RUI5WHJUZmc2QUEKTUFv" \
    "R0NDcUdTTTQ5QkFNQ0EwZ0FNRVVDSUFyRytlVUxaZUYrQ2RXQmVyUlZiS3A0R0FOc0o2OEpoZk5Cc1" \
    "Q0aQplTWJqQWlFQXpBbFBFb2ZmYkZvRk9hWml5VEY3MDByWHRVc1Nia1daMEVja0xNMDhSVVU9Ci0t" \
    "LS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo="

#define REQUESTS "/apis/certificates.k8s.io/v1/certificatesigningrequests"
#define SPEC(request, signer) \
    "'request':'" request "','usages':['client auth'],'signerName':'" signer "'"

static const reply *make_request(api *a, const char *name, const char *spec)
{
    return api_post(a, REQUESTS, text(a, "{'metadata':{'name':'%s'},'spec':{%s}}", name, spec));
}

static const reply *patch_part(api *a, const char *part, const char *status)
{
    return api_patch(a, text(a, REQUESTS "/c/%s", part), text(a, "{'status':{%s}}", status));
}

static void server_sets_who_made_the_request(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = make_request(a, "c",
                                  SPEC(REQUEST, "x.io/robots") ",'username':'eve','uid':'1',"
                                                               "'groups':['system:masters']");
    assert_code(r, 201);
    assert_at(r, "spec.username", "system:anonymous");
    assert_at(r, "spec.uid", "");
    assert_at(r, "spec.groups", "[\"system:unauthenticated\"]");
    assert_at(r, "status", "{}");
}

static void invalid_requests_are_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const struct {
        const char *spec, *field, *message;
    } wrong[] = {
        {SPEC(FORGED, "x.io/r"), "spec.request", "x509: ECDSA verification failure"},
        {SPEC("aGVsbG8=", "x.io/r"), "spec.request", "PEM block type must be CERTIFICATE REQUEST"},
        {"'request':'" REQUEST "','signerName':'x.io/r'", "spec.usages", "Required value"},
        {SPEC(REQUEST, "plain"), "spec.signerName", "must be a fully qualified domain and path"},
        {SPEC(REQUEST, "kubernetes.io/legacy-unknown"), "spec.signerName",
         "the legacy signerName is not allowed via this API version"},
        {SPEC(REQUEST, "x.io/r") ",'expirationSeconds':599", "spec.expirationSeconds",
         "may not specify a duration less than 600 seconds"},
    };
    for (size_t i = 0; i < KC_COUNT(wrong); i++) {
        const reply *r = make_request(a, "c", wrong[i].spec);
        assert_code(r, 422);
        assert_at(r, "details.causes[0].field", wrong[i].field);
        assert_contains(r_text(r, "message"), wrong[i].message);
    }
}

static void client_certificate_of_masters_is_forbidden(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_status(make_request(a, "c", SPEC(MASTERS, "kubernetes.io/kube-apiserver-client")), 403,
                  "Forbidden",
                  "certificatesigningrequests.certificates.k8s.io \"c\" is forbidden: use of "
                  "kubernetes.io/kube-apiserver-client signer with system:masters group is not "
                  "allowed");
    assert_code(make_request(a, "c", SPEC(MASTERS, "x.io/robots")), 201);
}

static void approval_writes_conditions_only(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(make_request(a, "c", SPEC(REQUEST, "x.io/robots")), 201);
#define CONDITION(type) "{'type':'" type "','status':'True','reason':'r','message':'m'}"
    assert_code(patch_part(a, "status", "'conditions':[" CONDITION("Approved") "]"), 422);
    const reply *r =
        patch_part(a, "approval", "'certificate':'AAAA','conditions':[" CONDITION("Approved") "]");
    assert_code(r, 200);
    assert_at(r, "status.certificate", "");
    assert_at(r, "status.conditions[0].type", "Approved");
    assert_true(*r_text(r, "status.conditions[0].lastUpdateTime"));
    assert_true(*r_text(r, "status.conditions[0].lastTransitionTime"));
    assert_code(patch_part(a, "approval", "'conditions':[]"), 422);
    assert_code(patch_part(a, "approval",
                           "'conditions':[" CONDITION("Approved") "," CONDITION("Denied") "]"),
                422);
}

static void update_changes_neither_spec_nor_status(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(make_request(a, "c", SPEC(REQUEST, "x.io/robots")), 201);
    const reply *r =
        api_patch(a, REQUESTS "/c",
                  "{'metadata':{'labels':{'a':'b'}},'spec':{'signerName':'x.io/other'},"
                  "'status':{'conditions':[" CONDITION("Approved") "]}}");
    assert_code(r, 200);
    assert_at(r, "spec.signerName", "x.io/robots");
    assert_at(r, "status", "{}");
    assert_at(r, "metadata.labels.a", "b");
}

static void oversized_request_is_not_parsed(void **state)
{
    (void)state;
    kc_scoped(kc_buf) why = {0};
    const size_t n = 2 * KC__PKCS10_MAX_BYTES;
    kc_autofree char *text = kc_alloc(n + 1);
    memset(text, 'A', n);
    text[n] = 0;
    assert_false(kc__pkcs10_check(kc_str_of(text, n), &why));
    assert_string_equal(kc_buf_cstr(&why), "must have at most 65536 bytes");
}

TESTS(server_sets_who_made_the_request, invalid_requests_are_refused,
      client_certificate_of_masters_is_forbidden, approval_writes_conditions_only,
      update_changes_neither_spec_nor_status, oversized_request_is_not_parsed)

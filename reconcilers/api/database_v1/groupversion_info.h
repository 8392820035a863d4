/* SPDX-License-Identifier: Apache-2.0 */
/// +groupName=database.cloud.tencent.com
/// +versionName=v1

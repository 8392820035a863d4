/* SPDX-License-Identifier: Apache-2.0 */
/// +groupName=example.com
/// +versionName=v1

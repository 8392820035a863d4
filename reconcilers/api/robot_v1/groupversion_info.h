/* SPDX-License-Identifier: Apache-2.0 */
/// +groupName=robot.llleon.io
/// +versionName=v1

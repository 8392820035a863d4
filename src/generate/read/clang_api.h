/* SPDX-License-Identifier: Apache-2.0 */
/* clang_api.h: libclang, loaded on demand. Nothing links it: kc runs without it. */
#ifndef KC_GENERATE_CLANG_API_H
#define KC_GENERATE_CLANG_API_H

#include "kc/error.h"

#include <clang-c/Index.h>

/* The functions used; to use more, add the name. All exist since libclang 11. */
#define KC__GEN_CLANG_FUNCTIONS(X)  \
    X(createIndex)                  \
    X(disposeIndex)                 \
    X(parseTranslationUnit2)        \
    X(disposeTranslationUnit)       \
    X(getNumDiagnostics)            \
    X(getDiagnostic)                \
    X(disposeDiagnostic)            \
    X(getDiagnosticSeverity)        \
    X(getDiagnosticSpelling)        \
    X(getDiagnosticLocation)        \
    X(getTranslationUnitCursor)     \
    X(visitChildren)                \
    X(getCString)                   \
    X(disposeString)                \
    X(getFile)                      \
    X(getFileName)                  \
    X(getFileContents)              \
    X(File_isEqual)                 \
    X(getExpansionLocation)         \
    X(getCursorLocation)            \
    X(getCursorExtent)              \
    X(getRangeStart)                \
    X(getRangeEnd)                  \
    X(getCursorKind)                \
    X(getCursorSpelling)            \
    X(getCursorUSR)                 \
    X(getCursorType)                \
    X(getCursorDefinition)          \
    X(Cursor_isNull)                \
    X(Cursor_isBitField)            \
    X(getTypedefDeclUnderlyingType) \
    X(getEnumConstantDeclValue)     \
    X(getCanonicalType)             \
    X(getPointeeType)               \
    X(getTypeDeclaration)           \
    X(getTypeSpelling)              \
    X(Type_getSizeOf)               \
    X(Type_getNamedType)            \
    X(Location_isInSystemHeader)

typedef struct kc__gen_clang {
#define KC__GEN_CLANG_POINTER(name) __typeof__(&clang_##name) name;
    KC__GEN_CLANG_FUNCTIONS(KC__GEN_CLANG_POINTER)
#undef KC__GEN_CLANG_POINTER
} kc__gen_clang;

/* Loads it. It stays loaded: unloading is not safe. Negative with an error that names the package
 * to install. */
int kc__gen_clang_load(kc__gen_clang *ret, kc_error *err);

#endif

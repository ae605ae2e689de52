#include "base/source.h"

#include <stickslip/base.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

#if defined(__clang__)
#define COMPILER "clang " TEXT(__clang_major__) "." TEXT(__clang_minor__) "." TEXT(__clang_patchlevel__)
#else
#define COMPILER "gcc " TEXT(__GNUC__) "." TEXT(__GNUC_MINOR__) "." TEXT(__GNUC_PATCHLEVEL__)
#endif

/* SS_VERSION_TEXT, SS_BUILD_TYPE and SS_SANITIZE come from CMakeLists.txt, where the version
 * is written once; SS_SOURCE_DIGEST from a header that is made while building. */

const char *ss_version(void)
{
    return SS_VERSION_TEXT;
}

const char *ss_build(void)
{
    return SS_SANITIZE[0] ? COMPILER " " SS_BUILD_TYPE " sanitize=" SS_SANITIZE : COMPILER " " SS_BUILD_TYPE;
}

const char *ss_source_digest(void)
{
    return SS_SOURCE_DIGEST;
}

int ss_abi_version(void)
{
    return SS_ABI;
}

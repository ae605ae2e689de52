/* base/poison.h - tells AddressSanitizer which bytes of our own blocks are out of bounds;
 * nothing without it. */
#ifndef SS_BASE_POISON_H
#define SS_BASE_POISON_H

#if defined(__SANITIZE_ADDRESS__)
#define SS_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SS_HAS_ASAN 1
#endif
#endif

#ifdef SS_HAS_ASAN
#include <sanitizer/asan_interface.h>
#define SS_POISON(address, bytes) ASAN_POISON_MEMORY_REGION(address, bytes)
#define SS_UNPOISON(address, bytes) ASAN_UNPOISON_MEMORY_REGION(address, bytes)
#define SS_IS_POISONED(address) (__asan_address_is_poisoned(address) != 0)
#else
#define SS_POISON(address, bytes) ((void)(address), (void)(bytes))
#define SS_UNPOISON(address, bytes) ((void)(address), (void)(bytes))
#endif

#endif

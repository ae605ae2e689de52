# Compiler flags of everything in the tree. Floating point means what the source says: no contraction to
# fused multiply-add, no fast-math, so that a result does not depend on compiler or optimisation level.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug or Release" FORCE)
endif()
set(CMAKE_C_FLAGS_RELEASE "-O2 -g") # asserts of <assert.h> are not used; SS_ASSERT follows SS_CHECKED
if(SS_SANITIZE MATCHES "address") # gcc takes twice as long for -O2 of what it adds; -g1 is enough for lines in reports
    set(CMAKE_C_FLAGS_RELEASE "-O1 -g1")
endif()

add_library(stickslip_flags INTERFACE)
target_compile_definitions(stickslip_flags INTERFACE _DEFAULT_SOURCE)
target_compile_options(stickslip_flags INTERFACE -Wall -Wextra -Wshadow -ffp-contract=off
                       "$<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes;-Wmissing-prototypes>"
                       "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=") # __FILE__ is src/..., on every machine
if(SS_WERROR)
    target_compile_options(stickslip_flags INTERFACE -Werror)
endif()

if(SS_FUZZ)
    set(SS_SANITIZE "address,undefined")
    target_compile_options(stickslip_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(SS_SANITIZE)
    target_compile_options(stickslip_flags INTERFACE -fsanitize=${SS_SANITIZE} -fno-sanitize-recover=all
                           -fno-omit-frame-pointer)
    target_link_options(stickslip_flags INTERFACE -fsanitize=${SS_SANITIZE})
endif()
if(SS_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_definitions(stickslip_flags INTERFACE SS_CHECKED=1)
endif()

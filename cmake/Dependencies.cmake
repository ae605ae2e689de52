# What the library stands on. Read by the build and, installed, by find_package(stickslip): one list for both.
# Sets stickslip_dependencies_FOUND and the target stickslip_dependencies; for stickslip.pc, stickslip_link_flags.
#
#   HDF5        the files; only src/dataset includes it
#   OpenBLAS    cblas and the LAPACK behind LAPACKE
#   SuiteSparse AMD, CXSparse, and of CHOLMOD only the simplicial (LGPL) part
#   Qhull       convex hulls; only src/model includes it
#   Expat       XML of model files; only src/modelfile includes it
#   GMP         rational numbers; only src/certificate includes it

# Known to pkg-config; alternatives of one need are separated by "|".
set(stickslip_modules "hdf5-serial|hdf5" openblas lapacke qhull_r expat gmp)
# Not known to pkg-config in every distribution: plain -l names.
set(stickslip_libraries cholmod amd cxsparse suitesparseconfig)

if(TARGET stickslip_dependencies)
    return()
endif()
find_package(PkgConfig QUIET)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads QUIET)

set(stickslip_missing "")
set(stickslip_found "")      # targets and files to link
set(stickslip_link_flags "") # the same as -L and -l
if(NOT PkgConfig_FOUND)
    list(APPEND stickslip_missing pkg-config)
endif()
if(NOT Threads_FOUND)
    list(APPEND stickslip_missing threads)
endif()
foreach(alternatives ${stickslip_modules})
    string(REPLACE "|" ";" names "${alternatives}")
    list(GET names 0 name)
    string(MAKE_C_IDENTIFIER "SS_${name}" prefix)
    if(PkgConfig_FOUND)
        pkg_search_module(${prefix} QUIET IMPORTED_TARGET GLOBAL ${names})
    endif()
    if(${prefix}_FOUND)
        list(APPEND stickslip_found PkgConfig::${prefix})
        list(APPEND stickslip_link_flags ${${prefix}_LDFLAGS})
    else()
        list(APPEND stickslip_missing ${name})
    endif()
endforeach()
find_path(SS_SUITESPARSE_INCLUDE cholmod.h PATH_SUFFIXES suitesparse)
mark_as_advanced(SS_SUITESPARSE_INCLUDE)
foreach(name ${stickslip_libraries})
    find_library(SS_LIBRARY_${name} ${name})
    mark_as_advanced(SS_LIBRARY_${name})
    if(SS_LIBRARY_${name} AND SS_SUITESPARSE_INCLUDE)
        list(APPEND stickslip_found "${SS_LIBRARY_${name}}")
        list(APPEND stickslip_link_flags -l${name})
    else()
        list(APPEND stickslip_missing ${name})
    endif()
endforeach()

if(stickslip_missing)
    set(stickslip_dependencies_FOUND FALSE)
    list(JOIN stickslip_missing ", " stickslip_missing)
    if(PROJECT_NAME STREQUAL "stickslip")
        message(FATAL_ERROR "not found: ${stickslip_missing}. `tools/setup library` installs what the library needs.")
    endif()
    return()
endif()
set(stickslip_dependencies_FOUND TRUE)
list(APPEND stickslip_link_flags -lpthread -ldl -lm)
add_library(stickslip_dependencies INTERFACE IMPORTED GLOBAL)
target_include_directories(stickslip_dependencies INTERFACE "${SS_SUITESPARSE_INCLUDE}")
target_link_libraries(stickslip_dependencies INTERFACE ${stickslip_found} Threads::Threads m ${CMAKE_DL_LIBS})

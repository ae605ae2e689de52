# find_package(stickslip) gives
#   stickslip::stickslip         the shared library
#   stickslip::stickslip_static  the static one, when the libraries it stands on are installed too
include("${CMAKE_CURRENT_LIST_DIR}/stickslipShared.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/stickslipDependencies.cmake")
if(stickslip_dependencies_FOUND)
    include("${CMAKE_CURRENT_LIST_DIR}/stickslipStatic.cmake")
elseif(NOT stickslip_FIND_QUIETLY)
    message(STATUS "stickslip: no static library, not found: ${stickslip_missing}")
endif()

# cmake -D FOLDER=... -D OUTPUT=... -D LIST=... -P SourceDigest.cmake: SHA-256 of the library's source files, which the
# file LIST names, as a header. It says what the program computes, where the version says what was released.
file(STRINGS "${LIST}" files)
list(SORT files)
foreach(file IN LISTS files)
    file(SHA256 "${file}" sum)
    file(RELATIVE_PATH name "${FOLDER}" "${file}")
    string(APPEND sums "${sum} ${name}\n")
endforeach()
string(SHA256 digest "${sums}")
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT "#define SS_SOURCE_DIGEST \"${digest}\"\n" @ONLY)

# cmake --install, and the tarball of `cmake --workflow --preset package`:
#
#   bin/optiml   share/optiml/{examples,suite}   share/doc/optiml/{README.md,CHANGELOG.md,LICENSE,docs}
#
# The program carries its data (device descriptions, headers, prompts) inside; nothing in it knows where it lies.
include(GNUInstallDirs)
install(DIRECTORY examples suite DESTINATION ${CMAKE_INSTALL_DATADIR}/optiml PATTERN "*.optiml-run" EXCLUDE)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_NAME optiml)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
string(TOLOWER ${CMAKE_SYSTEM_NAME} system)
set(CPACK_PACKAGE_FILE_NAME optiml-${PROJECT_VERSION}-${system}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
include(CPack)

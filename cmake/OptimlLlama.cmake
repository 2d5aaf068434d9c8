# Finds llama.cpp for local language models. It comes as the Python package of requirements-llama.txt, which
# `./setup --with-llama` builds into .venv, or from anywhere on CMAKE_PREFIX_PATH.
#
# Sets OPTIML_HAS_LLAMA, and OPTIML_LLAMA_SUMMARY for the summary at the end of the configure step. Where it is ON the
# target `llama` brings headers, libraries (ggml's too) and, in the build tree, the run path.
set(OPTIML_HAS_LLAMA OFF)
set(OPTIML_LLAMA_SUMMARY "off (OPTIML_WITH_LLAMA is OFF)")
if(OPTIML_WITH_LLAMA)
  set(optiml_llama_hints "")
  if(EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python)
    execute_process(COMMAND ${PROJECT_SOURCE_DIR}/.venv/bin/python -c "import sysconfig; print(sysconfig.get_paths()['platlib'])"
                    OUTPUT_VARIABLE optiml_llama_hints OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  find_package(llama CONFIG QUIET HINTS ${optiml_llama_hints})
  if(llama_FOUND)
    set(OPTIML_HAS_LLAMA ON)
    set(OPTIML_LLAMA_SUMMARY "llama.cpp ${LLAMA_VERSION} (${LLAMA_LIB_DIR})")
    set(CMAKE_INSTALL_RPATH ${LLAMA_LIB_DIR})  # an installed program finds libllama where it was built against it
  else()
    set(OPTIML_LLAMA_SUMMARY "off (llama.cpp is not found; ./setup --with-llama builds it)")
  endif()
endif()

# Which includes leave the layers that a library may use. A module of its own so that tests/layers.cmake can call it.

# Sets OUT to a message for each file of FILES that includes a folder of SRC other than FOLDER and ALLOWED, or a file by a
# path with "..". All spellings count: <a/b.h>, indented, blanks after the #.
function(optiml_bad_includes out src folder allowed files)
  set(bad "")
  list(JOIN allowed " " names)
  foreach(file IN LISTS files)
    file(STRINGS ${file} lines REGEX "^[ \t]*#[ \t]*include[ \t]*[\"<]")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^[ \t]*#[ \t]*include[ \t]*[\"<]([^\">]*)[\">].*" "\\1" included "${line}")
      if(included MATCHES "(^|/)\\.\\.(/|$)")
        list(APPEND bad "${folder}/${file}: '${line}': includes are written from src/ on")
      elseif(included MATCHES "^([A-Za-z0-9_]+)/")
        set(of ${CMAKE_MATCH_1})
        if(IS_DIRECTORY ${src}/${of} AND NOT of STREQUAL folder AND NOT of IN_LIST allowed)
          list(APPEND bad "${folder}/${file}: '${line}' leaves the layers that it may use (${names})")
        endif()
      endif()
    endforeach()
  endforeach()
  set(${out} "${bad}" PARENT_SCOPE)
endfunction()

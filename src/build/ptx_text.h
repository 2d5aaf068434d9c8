#ifndef OPTIML_BUILD_PTX_TEXT_H_
#define OPTIML_BUILD_PTX_TEXT_H_

// What the builder reads from, and does to, texts of the toolchain: PTX, ptxas's resource report,
// compiler logs. Pure functions.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/artifact.h"

namespace optiml {

// The PTX without comments, debug information (.loc, .file, .section of DWARF) and empty lines:
// two sources that differ in comments or line numbers only have equal ones. Its hash is
// Artifact::ptx_hash.
std::string NormalisePtx(std::string_view ptx);

// Entry names in order of appearance.
std::vector<std::string> PtxEntries(std::string_view ptx);

// NVRTC writes `.file 1 "<working directory>/<name>"`: the same with the name alone, so that the
// text does not depend on where the process runs.
std::string WithPlainFileName(std::string_view ptx, std::string_view file_name);

// Parses "ptxas info : Used 32 registers, ..." and the lines around it, by lowered name.
std::map<std::string, KernelResources> ParseResourceLog(std::string_view log);

// The log without ptxas's per-kernel report: warnings and other remarks only.
std::string WithoutResourceReport(std::string_view log);

// What ptxas refused, of the log of a build that failed ("Not a name of any known instruction:
// 'foo'"); empty when it did not run.
std::string FirstAssemblerError(std::string_view log);

// "kernel.cu(12): error: identifier "foo" is undefined" -> "kernel.cu:12: identifier "foo" is
// undefined". The first line of the log when no line has that form; empty for an empty log.
std::string FirstError(std::string_view log);

}  // namespace optiml

#endif  // OPTIML_BUILD_PTX_TEXT_H_

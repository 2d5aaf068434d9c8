#ifndef OPTIML_FRONTEND_RECORDER_SYMBOLS_H_
#define OPTIML_FRONTEND_RECORDER_SYMBOLS_H_

// Which functions of others a recorded launcher may use: the CUDA runtime as far as the recorder
// has it, and of the C and C++ libraries what computes, keeps data and prints. Everything that asks
// the system for something (files, threads, time, the environment) is missing from the list.

#include <string>
#include <string_view>

namespace optiml::frontend {

// `symbol` as the linker knows it.
bool IsAllowedLibrarySymbol(std::string_view symbol);

// The whole list as one text: another list is another text.
std::string AllowedLibrarySymbols();

// For people: "std::thread::join()" for _ZNSt6thread4joinEv.
std::string DemangledSymbol(const std::string& symbol);

}  // namespace optiml::frontend

#endif  // OPTIML_FRONTEND_RECORDER_SYMBOLS_H_

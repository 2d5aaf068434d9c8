#include "frontend/recorder_symbols.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace optiml::frontend {

namespace {

// Of the C library and the compiler's own, by their whole names.
constexpr std::array<std::string_view, 112> kNames = {
    // memory and text
    "malloc", "calloc", "realloc", "free", "aligned_alloc", "posix_memalign", "memcpy", "memmove",
    "memset", "memcmp", "memchr", "strlen", "strnlen", "strcmp", "strncmp", "strcpy", "strncpy",
    "strcat", "strncat", "strchr", "strrchr", "strstr", "strspn", "strcspn", "bcmp", "stpcpy",
    "strtol", "strtoul", "strtoll", "strtoull", "strtod", "strtof", "atoi", "atol", "atof",
    "tolower", "toupper", "isdigit", "isalpha", "isalnum", "isspace", "isupper", "islower",
    // formatting and messages
    "snprintf", "vsnprintf", "sprintf", "vsprintf", "printf", "vprintf", "fprintf", "vfprintf",
    "puts", "putchar", "fputs", "fputc", "putc", "fflush", "fwrite", "perror", "stdout", "stderr",
    // algorithms and arithmetic of whole numbers
    "qsort", "bsearch", "abs", "labs", "llabs", "div", "ldiv", "lldiv", "__popcountdi2", "__divti3",
    "__udivti3", "__modti3", "__umodti3", "__multi3",
    // ends, which the recorder names
    "abort", "exit", "__assert_fail", "__stack_chk_fail",
    // the compiler's own
    "__gxx_personality_v0", "__dso_handle", "_Unwind_Resume", "_GLOBAL_OFFSET_TABLE_",
    "__tls_get_addr", "__cxa_allocate_exception", "__cxa_free_exception", "__cxa_throw",
    "__cxa_rethrow", "__cxa_begin_catch", "__cxa_end_catch", "__cxa_get_exception_ptr",
    "__cxa_pure_virtual", "__cxa_deleted_virtual", "__cxa_guard_acquire", "__cxa_guard_release",
    "__cxa_guard_abort", "__cxa_atexit", "__cxa_throw_bad_array_new_length", "__cxa_bad_cast",
    "__cxa_bad_typeid", "__dynamic_cast", "__cxa_call_unexpected", "__cxa_thread_atexit",
    "__gxx_personality_seh0", "__cxa_init_primary_exception", "__errno_location", "__ctype_b_loc",
    "__isoc99_sscanf", "sscanf", "terminate"};

// Functions of <math.h> without the f or l of their other versions.
constexpr std::array<std::string_view, 56> kMath = {
    "acos",      "acosh",  "asin",      "asinh", "atan",   "atan2",     "atanh",   "cbrt",
    "ceil",      "cos",    "cosh",      "erf",   "erfc",   "exp",       "exp2",    "expm1",
    "exp10",     "fabs",   "fdim",      "floor", "fma",    "fmax",      "fmin",    "fmod",
    "frexp",     "hypot",  "ilogb",     "ldexp", "lgamma", "llrint",    "llround", "log",
    "log10",     "log1p",  "log2",      "logb",  "lrint",  "lround",    "modf",    "nearbyint",
    "nextafter", "pow",    "remainder", "rint",  "round",  "roundeven", "scalbln", "scalbn",
    "sin",       "sincos", "sinh",      "sqrt",  "tan",    "tanh",      "tgamma",  "trunc"};

// Mangled names of the C++ library, by their beginnings: strings, streams of text in memory,
// messages, exceptions, containers' helpers, memory.
constexpr std::array<std::string_view, 60> kPrefixes = {"_Znw",
                                                        "_Zna",
                                                        "_ZdlPv",
                                                        "_ZdaPv",
                                                        "_ZTVN10__cxxabiv1",
                                                        "_ZTIPK",
                                                        "_ZTIP",
                                                        "_ZTIi",
                                                        "_ZTIj",
                                                        "_ZTIl",
                                                        "_ZTIm",
                                                        "_ZTIf",
                                                        "_ZTId",
                                                        "_ZTIb",
                                                        "_ZTIc",
                                                        "_ZTIh",
                                                        "_ZTIs",
                                                        "_ZTIt",
                                                        "_ZTIx",
                                                        "_ZTIy",
                                                        "_ZTIv",
                                                        "_ZTIDn",
                                                        "_ZTISt",
                                                        "_ZTSSt",
                                                        "_ZTVSt",
                                                        "_ZTVNSt7__cxx1115basic_stringbuf",
                                                        "_ZTVNSt7__cxx1119basic_ostringstream",
                                                        "_ZTVNSt7__cxx1118basic_stringstream",
                                                        "_ZTTNSt7__cxx1119basic_ostringstream",
                                                        "_ZTTNSt7__cxx1118basic_stringstream",
                                                        "_ZNSt7__cxx1112basic_string",
                                                        "_ZNKSt7__cxx1112basic_string",
                                                        "_ZNSt7__cxx1115basic_stringbuf",
                                                        "_ZNKSt7__cxx1115basic_stringbuf",
                                                        "_ZNSt7__cxx1119basic_ostringstream",
                                                        "_ZNKSt7__cxx1119basic_ostringstream",
                                                        "_ZNSt7__cxx1118basic_stringstream",
                                                        "_ZNKSt7__cxx1118basic_stringstream",
                                                        "_ZNSo",
                                                        "_ZNKSo",
                                                        "_ZStls",
                                                        "_ZSt4cout",
                                                        "_ZSt4cerr",
                                                        "_ZSt4clog",
                                                        "_ZSt4endl",
                                                        "_ZSt5flush",
                                                        "_ZSt16__ostream_insert",
                                                        "_ZNSt8ios_base4Init",
                                                        "_ZNSt8ios_baseC",
                                                        "_ZNSt8ios_baseD",
                                                        "_ZNSt9basic_ios",
                                                        "_ZNKSt9basic_ios",
                                                        "_ZNSt6localeC1Ev",
                                                        "_ZNSt6localeD1Ev",
                                                        "_ZNKSt5ctype",
                                                        "_ZSt18_Rb_tree",
                                                        "_ZSt28_Rb_tree",
                                                        "_ZSt29_Rb_tree",
                                                        "_ZSt20_Rb_tree",
                                                        "_ZSt11_Hash_bytes"};

// The same, with the length of a name that follows: exceptions and what throws them.
constexpr std::array<std::string_view, 30> kThrown = {"_ZSt9terminatev",
                                                      "_ZNSt9exception",
                                                      "_ZNKSt9exception",
                                                      "_ZNSt13runtime_error",
                                                      "_ZNKSt13runtime_error",
                                                      "_ZNSt11logic_error",
                                                      "_ZNKSt11logic_error",
                                                      "_ZNSt16invalid_argument",
                                                      "_ZNSt12out_of_range",
                                                      "_ZNSt12length_error",
                                                      "_ZNSt12domain_error",
                                                      "_ZNSt11range_error",
                                                      "_ZNSt14overflow_error",
                                                      "_ZNSt15underflow_error",
                                                      "_ZNSt9bad_alloc",
                                                      "_ZNKSt9bad_alloc",
                                                      "_ZNSt8bad_cast",
                                                      "_ZNKSt8bad_cast",
                                                      "_ZNSt20bad_array_new_length",
                                                      "_ZNSt17bad_function_call",
                                                      "_ZNKSt17bad_function_call",
                                                      "_ZSt7nothrow",
                                                      "_ZNKSt8__detail",
                                                      "_ZNSt8__detail15_List_node_base",
                                                      "_ZNSt18bad_variant_access",
                                                      "_ZNSt15__exception_ptr",
                                                      "_ZNKSt15__exception_ptr",
                                                      "_ZSt17current_exceptionv",
                                                      "_ZSt17rethrow_exception",
                                                      "_ZSt19uncaught_exceptions"};

template <size_t N>
bool StartsWithOneOf(std::string_view symbol, const std::array<std::string_view, N>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return symbol.starts_with(beginning); });
}

bool IsThrow(std::string_view symbol) {
  // _ZSt20__throw_out_of_range...: a helper that throws, or a streams' helper that fails.
  if (!symbol.starts_with("_ZSt")) {
    return false;
  }
  size_t at = 4;
  while (at < symbol.size() && symbol[at] >= '0' && symbol[at] <= '9') {
    ++at;
  }
  return at > 4 && symbol.substr(at).starts_with("__throw_") &&
         symbol.find("system_error") == std::string_view::npos;
}

}  // namespace

bool IsAllowedLibrarySymbol(std::string_view symbol) {
  if (std::find(kNames.begin(), kNames.end(), symbol) != kNames.end()) {
    return true;
  }
  for (const std::string_view math : kMath) {
    if (symbol == math || (symbol.size() == math.size() + 1 && symbol.starts_with(math) &&
                           (symbol.back() == 'f' || symbol.back() == 'l'))) {
      return true;
    }
  }
  return StartsWithOneOf(symbol, kPrefixes) || StartsWithOneOf(symbol, kThrown) || IsThrow(symbol);
}

std::string AllowedLibrarySymbols() {
  std::string text;
  const auto add = [&text](const auto& names) {
    for (const std::string_view name : names) {
      text += std::string(name) + "\n";
    }
    text += "\n";
  };
  add(kNames);
  add(kMath);
  add(kPrefixes);
  add(kThrown);
  return text;
}

std::string DemangledSymbol(const std::string& symbol) {
  int status = 0;
  char* text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && text != nullptr ? text : symbol;
  std::free(text);
  return result;
}

}  // namespace optiml::frontend

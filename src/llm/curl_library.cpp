#include "llm/curl_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

namespace optiml {
namespace {

// This name since 2006; 7.85 brought the newest of the options that we set (PROTOCOLS_STR).
constexpr char kFile[] = "libcurl.so.4";
constexpr char kRemedy[] =
    "language models behind HTTP need libcurl 7.85 or later; install libcurl4";

}  // namespace

Result<CurlLibrary> CurlLibrary::Open(const char* file) {
  void* handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return Error(ErrorCode::kUnavailable, fmt::format("{}: {}", kRemedy, dlerror()));
  }
  CurlLibrary library;
  std::string missing;
  const auto take = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    if (function == nullptr && missing.empty()) {
      missing = name;
    }
  };
  take(library.global_init, "curl_global_init");
  take(library.easy_init, "curl_easy_init");
  take(library.easy_reset, "curl_easy_reset");
  take(library.easy_setopt, "curl_easy_setopt");
  take(library.easy_getinfo, "curl_easy_getinfo");
  take(library.easy_strerror, "curl_easy_strerror");
  take(library.easy_cleanup, "curl_easy_cleanup");
  take(library.multi_init, "curl_multi_init");
  take(library.multi_add_handle, "curl_multi_add_handle");
  take(library.multi_remove_handle, "curl_multi_remove_handle");
  take(library.multi_perform, "curl_multi_perform");
  take(library.multi_info_read, "curl_multi_info_read");
  take(library.multi_poll, "curl_multi_poll");
  take(library.multi_cleanup, "curl_multi_cleanup");
  take(library.slist_append, "curl_slist_append");
  take(library.slist_free_all, "curl_slist_free_all");
  take(library.url, "curl_url");
  take(library.url_set, "curl_url_set");
  take(library.url_get, "curl_url_get");
  take(library.url_cleanup, "curl_url_cleanup");
  take(library.free, "curl_free");
  if (!missing.empty()) {
    return Error(ErrorCode::kUnavailable, fmt::format("{}: {} has no {}", kRemedy, file, missing));
  }
  if (library.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    return Error(ErrorCode::kUnavailable, fmt::format("{}: {} does not start", kRemedy, file));
  }
  return library;
}

const Result<CurlLibrary>& CurlLibrary::Get() {
  static const Result<CurlLibrary> library = Open(kFile);
  return library;
}

}  // namespace optiml

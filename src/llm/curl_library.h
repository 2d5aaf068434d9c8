#ifndef OPTIML_LLM_CURL_LIBRARY_H_
#define OPTIML_LLM_CURL_LIBRARY_H_

// libcurl, opened when the first request is made: the program starts where it is not installed, and
// a tarball of it needs no copy.

#include <curl/curl.h>

#include "base/result.h"

namespace optiml {

// The functions that we use, by their names without "curl_".
struct CurlLibrary {
  decltype(&curl_global_init) global_init = nullptr;
  decltype(&curl_easy_init) easy_init = nullptr;
  decltype(&curl_easy_reset) easy_reset = nullptr;
  decltype(&curl_easy_setopt) easy_setopt = nullptr;
  decltype(&curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&curl_easy_strerror) easy_strerror = nullptr;
  decltype(&curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&curl_multi_init) multi_init = nullptr;
  decltype(&curl_multi_add_handle) multi_add_handle = nullptr;
  decltype(&curl_multi_remove_handle) multi_remove_handle = nullptr;
  decltype(&curl_multi_perform) multi_perform = nullptr;
  decltype(&curl_multi_info_read) multi_info_read = nullptr;
  decltype(&curl_multi_poll) multi_poll = nullptr;
  decltype(&curl_multi_cleanup) multi_cleanup = nullptr;
  decltype(&curl_slist_append) slist_append = nullptr;
  decltype(&curl_slist_free_all) slist_free_all = nullptr;
  decltype(&curl_url) url = nullptr;
  decltype(&curl_url_set) url_set = nullptr;
  decltype(&curl_url_get) url_get = nullptr;
  decltype(&curl_url_cleanup) url_cleanup = nullptr;
  decltype(&curl_free) free = nullptr;

  // Of this process, opened once. Fails with kUnavailable, with the remedy.
  static const Result<CurlLibrary>& Get();
  // Likewise, from another file; for tests.
  static Result<CurlLibrary> Open(const char* file);
};

}  // namespace optiml

#endif  // OPTIML_LLM_CURL_LIBRARY_H_

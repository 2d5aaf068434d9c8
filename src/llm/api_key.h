#ifndef OPTIML_LLM_API_KEY_H_
#define OPTIML_LLM_API_KEY_H_

// ApiKey: the secret that an endpoint wants. It can be put into a request and taken out of a text,
// and nothing else: there is no way to print, format, compare or record it.

#include <filesystem>
#include <map>
#include <ostream>
#include <string>
#include <utility>

#include "base/result.h"

namespace optiml {

class ApiKey {
 public:
  ApiKey() = default;  // no key

  // Fails with kInvalidArgument when `text` is no key: empty, not on one line, not printable ASCII.
  // `where` stands in the message, `text` never does.
  static Result<ApiKey> Parse(std::string text, const std::string& where);

  bool is_empty() const { return secret_.empty(); }
  // The header that carries it to the endpoint.
  std::string AuthorizationHeader() const { return "Authorization: Bearer " + secret_; }
  // The text with "[key]" wherever the key stood: an endpoint may send it back.
  std::string Redact(std::string text) const;

 private:
  explicit ApiKey(std::string secret) : secret_(std::move(secret)) {}
  std::string secret_;
};
std::ostream& operator<<(std::ostream&, const ApiKey&) = delete;

// The key for HTTP endpoints: of `file` when one is named, else of the file that
// OPTIML_API_KEY_FILE names, else OPTIML_API_KEY, else OPENAI_API_KEY; an empty key when there is
// none of them. A file must be a regular one that belongs to this user and that nobody else can
// read or write (mode 600).
Result<ApiKey> LoadApiKey(const std::map<std::string, std::string>& variables,
                          const std::filesystem::path& file = {});

}  // namespace optiml

#endif  // OPTIML_LLM_API_KEY_H_

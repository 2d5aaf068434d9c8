#include "llm/api_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <type_traits>

#include "base/file_system.h"
#include "base/process.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kSecret[] = "sk-test-0123456789abcdef";

template <typename T>
concept Printable = requires(std::ostream& out, const T& value) { out << value; };
static_assert(!Printable<ApiKey>);
static_assert(!std::is_convertible_v<ApiKey, std::string>);
static_assert(!std::equality_comparable<ApiKey>);

fs::path KeyFile(const TemporaryDirectory& folder, const std::string& text, mode_t mode) {
  const fs::path file = folder.path() / "key";
  EXPECT_TRUE(WriteFileAtomically(file, text));
  chmod(file.c_str(), mode);
  return file;
}

TEST(LoadApiKey, TakesTheFileThenOurVariableThenTheCommonOne) {
  const auto folder = TemporaryDirectory::Create("key");
  const fs::path file = KeyFile(*folder, "from-file\n", 0600);
  std::map<std::string, std::string> variables = {{"OPENAI_API_KEY", "common"}};
  const auto header = [&](const fs::path& path = {}) {
    const auto key = LoadApiKey(variables, path);
    return key ? key->AuthorizationHeader() : key.error().message();
  };
  EXPECT_EQ(header(), "Authorization: Bearer common");
  variables["OPTIML_API_KEY"] = " ours\n";
  EXPECT_EQ(header(), "Authorization: Bearer ours");
  variables["OPTIML_API_KEY_FILE"] = file;
  EXPECT_EQ(header(), "Authorization: Bearer from-file");
  variables["OPTIML_API_KEY_FILE"] = "/nowhere";
  EXPECT_EQ(header(file), "Authorization: Bearer from-file");
  EXPECT_TRUE(LoadApiKey({})->is_empty());
}

TEST(LoadApiKey, RefusesAFileThatOthersMayRead) {
  const auto folder = TemporaryDirectory::Create("key");
  for (const mode_t mode : {0640u, 0604u, 0660u, 0610u, 0644u}) {
    const fs::path file = KeyFile(*folder, kSecret, mode);
    const auto key = LoadApiKey({}, file);
    ASSERT_FALSE(key) << mode;
    EXPECT_EQ(key.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(key.error().message(), HasSubstr("chmod 600 " + file.string()));
  }
  EXPECT_TRUE(LoadApiKey({}, KeyFile(*folder, kSecret, 0400)));
}

TEST(LoadApiKey, SaysWhatIsWrongAndNeverWhatTheKeyIs) {
  const auto folder = TemporaryDirectory::Create("key");
  const auto message = [&](const std::string& text) {
    const auto key = LoadApiKey({}, KeyFile(*folder, text, 0600));
    EXPECT_FALSE(key);
    EXPECT_THAT(key.error().message(), Not(HasSubstr("sk-test")));
    return key.error().message();
  };
  EXPECT_THAT(message(" \n"), HasSubstr("the key is empty"));
  EXPECT_THAT(message("sk-test two"), HasSubstr("one word of printable ASCII"));
  EXPECT_THAT(message("sk-test\nsk-test"), HasSubstr("one word of printable ASCII"));
  EXPECT_THAT(message("sk-test\x01"), HasSubstr("one word of printable ASCII"));
  EXPECT_THAT(message(std::string(5000, 'x')), HasSubstr("one word of printable ASCII"));
  const auto none = LoadApiKey({}, folder->path() / "none");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), ErrorCode::kNotFound);
  EXPECT_FALSE(LoadApiKey({}, folder->path()));
}

TEST(ApiKey, RedactTakesOutEveryOccurrence) {
  const ApiKey key = *ApiKey::Parse(kSecret, "test");
  EXPECT_EQ(key.Redact(std::string(kSecret) + " and " + kSecret), "[key] and [key]");
  EXPECT_EQ(key.Redact("nothing"), "nothing");
  EXPECT_EQ(ApiKey().Redact("nothing"), "nothing");
}

TEST(ApiKey, IsNotInTheEnvironmentOfAChild) {
  setenv("OPTIML_API_KEY", kSecret, 1);
  setenv("OPENAI_API_KEY", kSecret, 1);
  ProcessRequest request;
  request.argv = {"env"};
  const auto outcome = RunProcess(request);
  unsetenv("OPTIML_API_KEY");
  unsetenv("OPENAI_API_KEY");
  ASSERT_TRUE(outcome);
  EXPECT_THAT(outcome->standard_output, HasSubstr("PATH="));
  EXPECT_THAT(outcome->standard_output, Not(HasSubstr("sk-test")));
}

}  // namespace
}  // namespace optiml

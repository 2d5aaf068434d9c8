#include "generate/contract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file_system.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;

constexpr char kGood[] =
    "[contract]\noperator = \"twice\"\nname = \"twice\"\nfamily = \"tests\"\ntitle = \"2 x\"\n"
    "dtypes = [\"f32\"]\n[words]\nneeds = [\"twice|foo bar & baz\"]\n"
    "[sizes]\ndefault = \"n = 4\"\nchecked = [\"n = 1\"]\nshapes = [\"n\"]\n\n[args]\nn = {}\n";

Result<Contract> Parse(const std::string& text) {
  const auto lexicon = Lexicon::Load();
  EXPECT_TRUE(lexicon);
  return ParseContract({"twice.toml", text, "kernel", "reference"}, *lexicon);
}

std::string Replaced(const std::string& from, const std::string& to) {
  std::string text = kGood;
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(Contract, IsRead) {
  const auto contract = Parse(kGood);
  ASSERT_TRUE(contract) << contract.error().message();
  EXPECT_EQ(contract->name, "twice");
  EXPECT_EQ(contract->count, std::vector<std::string>{"n"});
  EXPECT_EQ(contract->needs[0].any_of.size(), 2u);
  EXPECT_EQ(contract->needs[0].any_of[1].size(), 2u);
  EXPECT_EQ(contract->task_text, "[args]\nn = {}\n");
}

TEST(Contract, MistakesAreNamed) {
  const auto message = [](const std::string& text) {
    const auto contract = Parse(text);
    return contract ? std::string("accepted") : contract.error().message();
  };
  EXPECT_THAT(message(Replaced("family", "famili")), HasSubstr("twice.toml:4: unknown key"));
  EXPECT_THAT(message(Replaced("\"twice|foo", "\"the|foo")), HasSubstr("says nothing"));
  EXPECT_THAT(message(Replaced("\"twice|foo", "\"?x|foo")), HasSubstr("says nothing"));
  EXPECT_THAT(message(Replaced("foo bar", "foo the")), HasSubstr("says nothing: the"));
  EXPECT_THAT(message(Replaced("\"n = 1\"", "\"m = 1\"")), HasSubstr("other sizes"));
  EXPECT_THAT(message(Replaced("twice|", "@op|")), HasSubstr("no choice \"op\""));
  EXPECT_THAT(message(Replaced("[args]", "[arg]")), HasSubstr("no [args]"));
  EXPECT_THAT(message(Replaced("f32", "f23")), HasSubstr("f23"));
}

TEST(ContractLibrary, HasTheFoldersOfTheSourceTree) {
  const auto library = ContractLibrary::Load();
  ASSERT_TRUE(library) << library.error().message();
  size_t folders = 0;
  for (const auto& entry :
       fs::directory_iterator(fs::path(OPTIML_SOURCE_DIR) / "src/generate/contracts")) {
    if (!entry.is_directory()) {
      continue;
    }
    ++folders;
    EXPECT_NE(library->Find(entry.path().filename().string()), nullptr) << entry.path();
  }
  EXPECT_EQ(library->contracts().size(), folders);
  EXPECT_GE(folders, 40u);
  EXPECT_EQ(library->Find("nothing"), nullptr);
}

}  // namespace
}  // namespace optiml

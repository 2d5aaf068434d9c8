// optiml mot on tiny models.
#include "cli/mot_actions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "cli/fake_toolbox.h"
#include "mot/fixture_models.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;

class MotCommandTest : public ::testing::Test {
 protected:
  MotCommandTest() {
    mot::FixtureModel small;
    mot::FixtureModel large;
    large.architecture = "llama";
    large.width = 48;
    large.seed = 2;
    mot::WriteFixtureModel(Path("small.gguf"), small);
    mot::WriteFixtureModel(Path("large.gguf"), large);
    Write("ask.txt", "Make it faster.");
    Write("kernel.ptx", "ld.global.f32");
  }
  fs::path Path(const std::string& name) { return line_.env.working_directory / name; }
  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomically(Path(name), text));
  }
  // The streams hold this command's text alone.
  int Run(const std::vector<std::string>& arguments) {
    line_.out.str("");
    line_.err.str("");
    return line_.Run(arguments);
  }
  void Init() {
    ASSERT_EQ(Run({"mot", "init", "two.mot.gguf", "--expert", "small=small.gguf", "--expert",
                   "large=large.gguf", "--peer-only", "large", "--view", "large=ptx",
                   "--shared-width", "16", "--heads", "2", "--seed", "4"}),
              kExitDone)
        << line_.err.str();
  }

  CommandLine line_;
};

TEST_F(MotCommandTest, MakesInspectsAndChecksABundle) {
  Init();
  EXPECT_THAT(line_.out.str(), HasSubstr("2 experts, 3 boundaries"));
  EXPECT_THAT(line_.out.str(), HasSubstr("training: untrained"));
  ASSERT_EQ(Run({"mot", "inspect", "two.mot.gguf", "--json"}), kExitDone);
  const auto json = nlohmann::json::parse(line_.out.str());
  EXPECT_EQ(json["experts"][1]["name"], "large");
  EXPECT_EQ(json["experts"][1]["view"], nlohmann::json({"ptx"}));
  EXPECT_EQ(json["experts"][1]["can_be_primary"], false);
  EXPECT_EQ(json["router"], "hidden-mean");
  ASSERT_EQ(Run({"mot", "check", "two.mot.gguf", "--threads", "1"}), kExitDone) << line_.err.str();
  EXPECT_THAT(line_.out.str(), HasSubstr("large: usable; its boundaries are on CPU, CPU, CPU"));
  EXPECT_EQ(Run({"mot", "init", "two.mot.gguf", "--expert", "a=small.gguf"}), kExitBadUse);
  EXPECT_THAT(line_.err.str(), HasSubstr("is there already"));
}

TEST_F(MotCommandTest, RoutesAndGenerates) {
  Init();
  ASSERT_EQ(Run({"mot", "route", "two.mot.gguf", "--prompt", "ask.txt", "--threads", "1",
                 "--context", "256"}),
            kExitDone)
      << line_.err.str();
  EXPECT_EQ(line_.out.str(), "small        0.500  primary\nlarge        0.500  peer\n");
  const auto generate = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {
        "mot", "generate", "two.mot.gguf", "--prompt", "ask.txt", "--threads",     "1", "--context",
        "256", "--json",   "--max-tokens", "6",        "--part",  "ptx=kernel.ptx"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(Run(arguments), kExitDone) << line_.err.str();
    return nlohmann::json::parse(line_.out.str());
  };
  const auto mixed = generate({"-n", "2", "--temperature", "1"});
  EXPECT_EQ(mixed["candidates"].size(), 2U);
  EXPECT_GT(mixed["view_tokens"], 0);
  // An untrained bundle writes what its primary writes alone.
  const auto plain = generate({"-n", "2", "--temperature", "1", "--no-mot"});
  EXPECT_EQ(plain["view_tokens"], 0);
  EXPECT_EQ(plain["candidates"], mixed["candidates"]);
  EXPECT_EQ(generate({"--depths", "1,3", "--peers", "aligned"})["primary"], "small");
}

TEST_F(MotCommandTest, BadInputIsOneLineWithTheReason) {
  Init();
  const auto refused = [&](const std::vector<std::string>& arguments, int status,
                           const std::string& why) {
    EXPECT_EQ(Run(arguments), status);
    EXPECT_THAT(line_.err.str(), HasSubstr(why));
    const std::string text = line_.err.str();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  };
  refused({"mot", "inspect", "none.mot.gguf"}, kExitBadUse, "none.mot.gguf");
  refused({"mot", "inspect", "small.gguf"}, kExitBadUse, "not optiml-mot");
  refused({"mot", "check", "two.mot.gguf", "--threads", "1", "--expert", "small=large.gguf"},
          kExitBadUse, "is not the bundle's expert small");
  refused({"mot", "check", "two.mot.gguf", "--expert", "small"}, kExitBadUse, "NAME=VALUE");
  fs::remove(Path("large.gguf"));
  refused({"mot", "check", "two.mot.gguf", "--threads", "1"}, kExitBadUse,
          "expert large is missing");
  Write("large.gguf", "GGUF");
  refused({"mot", "check", "two.mot.gguf", "--threads", "1"}, kExitBadUse, "expert large: ");
  refused({"mot", "generate", "two.mot.gguf", "--prompt", "ask.txt", "--part", "sass=ask.txt"},
          kExitBadUse, "unknown part (known: source ptx profile retrieved attempts)");
  refused({"mot", "init", "b.mot.gguf", "--expert", "a=small.gguf", "--peer-only", "b"},
          kExitBadUse, "no --expert is called \"b\"");
}

}  // namespace
}  // namespace optiml

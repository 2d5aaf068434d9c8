#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/fake_toolbox.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// y[i] = factor * x[i] for i < n; reads x without the bound when `loose`.
std::string ScalePtx(bool loose) {
  return std::string(
             ".version 8.0\n.target sm_90\n.address_size 64\n"
             ".visible .entry scale(.param .u64 x, .param .u64 y, .param .f32 f, .param .u32 n)\n"
             "{\n.reg .pred %p; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %rd<8>;\n"
             "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.f32 %f1, [f];\n"
             "ld.param.u32 %r1, [n];\n"
             "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
             "mad.lo.u32 %r5, %r2, %r3, %r4;\n"
             "setp.ge.u32 %p, %r5, %r1;\n") +
         (loose ? "" : "@%p bra DONE;\n") +
         "mul.wide.u32 %rd3, %r5, 4; add.u64 %rd4, %rd1, %rd3; ld.global.f32 %f2, [%rd4];\n"
         "@%p bra DONE;\n"
         "mul.f32 %f3, %f2, %f1; add.u64 %rd5, %rd2, %rd3; st.global.f32 [%rd5], %f3;\n"
         "DONE: ret;\n}\n";
}

std::vector<std::string> ScaleArguments() {
  return {"emulate",   "scale.ptx", "--grid",       "4",     "--block",   "32",    "--arg",
          "x=f32[n]",  "--arg",     "y=f32[n]:out", "--arg", "f=f32=2.5", "--arg", "n=size",
          "--checked", "n=100"};
}

TEST(Emulate, RunsAPtxFileAndShowsItsCounters) {
  CommandLine cli;
  cli.Write("scale.ptx", ScalePtx(false));
  EXPECT_EQ(cli.Run(ScaleArguments()), kExitDone) << cli.err.str();
  EXPECT_THAT(cli.out.str(), HasSubstr("scale in scale.ptx at n=100"));
  EXPECT_THAT(cli.out.str(), HasSubstr("launch 1: scale, grid 4 x 1 x 1, block 32 x 1 x 1"));
  EXPECT_THAT(cli.out.str(), HasSubstr("global load sectors          13 sectors"));
  EXPECT_THAT(cli.out.str(), HasSubstr("checks: nothing found"));
}

TEST(Emulate, InterruptedEndsWithItsOwnStatus) {
  CommandLine cli;
  cli.Write("scale.ptx", ScalePtx(false));
  cli.stop = true;
  EXPECT_EQ(cli.Run(ScaleArguments()), kExitInterrupted);
  EXPECT_EQ(cli.err.str(), "optiml: interrupted\n");
  EXPECT_EQ(cli.out.str(), "");
}

TEST(Emulate, NamesEveryCheckThatFired) {
  CommandLine cli;
  cli.Write("scale.ptx", ScalePtx(true));
  EXPECT_EQ(cli.Run(ScaleArguments()), kExitNothingKept);
  EXPECT_THAT(cli.out.str(), HasSubstr("fault: ended by what is found below"));
  EXPECT_THAT(cli.out.str(), HasSubstr("checks: 1 found"));
  EXPECT_THAT(cli.out.str(),
              HasSubstr("out of bounds: block (3,0,0) thread (4,0,0): 4-byte load from x[100]"));
}

TEST(Emulate, PrintsJson) {
  CommandLine cli;
  cli.Write("scale.ptx", ScalePtx(false));
  std::vector<std::string> arguments = ScaleArguments();
  arguments.push_back("--json");
  ASSERT_EQ(cli.Run(arguments), kExitDone) << cli.err.str();
  const auto json = nlohmann::json::parse(cli.out.str());
  EXPECT_EQ(json["status"], "completed");
  EXPECT_TRUE(json["findings"].empty());
  ASSERT_EQ(json["launches"].size(), 1U);
  const auto& launch = json["launches"][0];
  EXPECT_EQ(launch["kernel"], "scale");
  EXPECT_EQ(launch["grid"], (std::vector<int>{4, 1, 1}));
  EXPECT_EQ(launch["metrics"]["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"]["value"], 13);
  EXPECT_TRUE(launch["theoretical_occupancy"].is_null());  // registers are not known
}

// y[i] = (x[i] + 1e8) - 1e8, in lines 11 and 12.
std::string CancellingPtx() {
  std::string text = ScalePtx(false);
  const std::string product = "mul.f32 %f3, %f2, %f1;";
  text.replace(text.find(product), product.size(),
               "\n.loc 1 11 1\nadd.f32 %f3, %f2, 0f4CBEBC20;\n.loc 1 12 1\nsub.f32 %f3, %f3, "
               "0f4CBEBC20;\n");
  return text;
}

TEST(Emulate, ShadowNamesTheWorstErrorAndItsLines) {
  CommandLine cli;
  cli.Write("scale.ptx", CancellingPtx());
  std::vector<std::string> arguments = ScaleArguments();
  arguments.push_back("--shadow");
  EXPECT_EQ(cli.Run(arguments), kExitDone) << cli.err.str();
  EXPECT_THAT(cli.out.str(), HasSubstr("errors against double arithmetic"));
  EXPECT_THAT(cli.out.str(), HasSubstr("y: 100 of 100 elements are inexact"));
  EXPECT_THAT(cli.out.str(), HasSubstr("worst relative error 1 at element"));
  EXPECT_THAT(cli.out.str(), HasSubstr("born at line 11 (100.0 %)"));
  EXPECT_THAT(cli.out.str(), HasSubstr("bits where a sum cancelled, at line 12"));
  arguments.push_back("--json");
  CommandLine again;
  again.Write("scale.ptx", CancellingPtx());
  ASSERT_EQ(again.Run(arguments), kExitDone) << again.err.str();
  const auto shadow = nlohmann::json::parse(again.out.str())["shadow"];
  ASSERT_EQ(shadow["outputs"].size(), 1U);
  EXPECT_EQ(shadow["outputs"][0]["buffer"], "y");
  EXPECT_EQ(shadow["outputs"][0]["inexact"], 100);
  EXPECT_EQ(shadow["outputs"][0]["relative"]["error"], 1.0);
  EXPECT_EQ(shadow["outputs"][0]["relative"]["born"][0]["line"], 11);
  EXPECT_EQ(shadow["outputs"][0]["relative"]["cancelled"]["line"], 12);
  EXPECT_TRUE(shadow["unfollowed_lines"].empty());
}

TEST(Emulate, WithoutShadowNothingIsSaidOfErrors) {
  CommandLine cli;
  cli.Write("scale.ptx", CancellingPtx());
  std::vector<std::string> arguments = ScaleArguments();
  arguments.push_back("--json");
  ASSERT_EQ(cli.Run(arguments), kExitDone) << cli.err.str();
  EXPECT_FALSE(nlohmann::json::parse(cli.out.str()).contains("shadow"));
}

TEST(Emulate, SaysWhatIsWrongWithAPtxFileOrItsFlags) {
  struct Case {
    std::string what;
    std::vector<std::string> arguments;
    std::string text;
    std::string message;
  };
  const std::vector<std::string> scale = ScaleArguments();
  auto without = [&](size_t at) {
    std::vector<std::string> arguments = scale;
    arguments.erase(arguments.begin() + static_cast<long>(at),
                    arguments.begin() + static_cast<long>(at) + 2);
    return arguments;
  };
  auto with = [&](const std::string& flag, const std::string& value) {
    std::vector<std::string> arguments = scale;
    arguments.push_back(flag);
    arguments.push_back(value);
    return arguments;
  };
  auto swapped = scale;
  swapped[7] = "x=f32=1";
  auto narrow = scale;
  narrow[11] = "f=f64=1";
  const std::string good = ScalePtx(false);
  const std::string two = good + ".visible .entry other()\n{\nret;\n}\n";
  for (const Case& c : std::vector<Case>{
           {"no PTX", scale, "int main() {}\n", "scale.ptx:1"},
           {"truncated", scale, good.substr(0, good.size() / 2), "scale.ptx:"},
           {"two kernels", scale, two, "choose one with --entry: scale, other"},
           {"no such kernel", with("--entry", "scala"), good, "--entry: scale.ptx has no kernel"},
           {"an argument missing", without(12), good, "scale has 4 parameters, --arg says 3"},
           {"a size missing", without(14), good, "n is a size, but --checked does not say it"},
           {"a scalar for a pointer", swapped, good,
            "x is a f32, but the kernel's parameter has 8"},
           {"a scalar too wide", narrow, good, "f is a f64, but the kernel's parameter has 4"},
           {"a kernel file", with("--kernel", "k.cu"), good, "--kernel: a .ptx file is the kernel"},
       }) {
    CommandLine cli;
    cli.Write("scale.ptx", c.text);
    EXPECT_EQ(cli.Run(c.arguments), kExitBadUse) << c.what;
    EXPECT_THAT(cli.err.str(), HasSubstr(c.message)) << c.what;
    EXPECT_THAT(cli.out.str(), Not(HasSubstr("launch 1"))) << c.what;
  }
}

TEST(Emulate, LaunchesBeyondTheLimitsAreRefused) {
  CommandLine cli;
  cli.Write("scale.ptx", ScalePtx(false));
  std::vector<std::string> arguments = ScaleArguments();
  arguments[5] = "2048";
  EXPECT_EQ(cli.Run(arguments), kExitNothingKept);
  EXPECT_THAT(cli.out.str(), HasSubstr("2048 threads (at most 1024"));
  arguments = ScaleArguments();
  arguments.insert(arguments.end(), {"--dynamic-shared", "300000"});
  EXPECT_EQ(cli.Run(arguments), kExitNothingKept);
  EXPECT_THAT(cli.out.str(), HasSubstr("300000"));
}

}  // namespace
}  // namespace optiml

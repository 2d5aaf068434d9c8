// The corpus on the emulator, and its comparison with what a GPU gave.
//
//   agree write FOLDER LIST...     makes FOLDER/cases.txt, inputs.bin and a PTX file for each case,
//   for run_on_gpu agree compare FOLDER LIST...   runs the same cases on the emulator; compares
//   with FOLDER/outputs.bin agree record FOLDER LIST...    prints what agree_test keeps of the
//   GPU's outputs (h200_outputs.txt) agree run LIST...              the emulator alone; says what
//   it cannot execute
//
// Options: --seed N (default 1), --only TEXT (cases whose name holds it), --show N (differences
// printed a case).

#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/file_system.h"
#include "compare.h"
#include "corpus.h"
#include "emulate.h"

namespace {

using namespace optiml;         // NOLINT(google-build-using-namespace): a program, not a header
using namespace optiml::agree;  // NOLINT(google-build-using-namespace)

struct Options {
  std::string command;
  std::filesystem::path folder;
  std::vector<std::string> lists;
  uint64_t seed = 1;
  std::string only;
  size_t show = 4;
};

int Fail(const std::string& message) {
  fmt::print(stderr, "agree: {}\n", message);
  return 1;
}

// One case of the file that run_on_gpu reads: words, one line each.
std::string Describe(const Case& c, size_t number, std::string& inputs) {
  std::string text =
      fmt::format("case {}\nmodule {}.ptx\ngrid {}\nblock {}\n", c.name, number, c.grid, c.block);
  for (const Buffer& buffer : c.buffers) {
    if (buffer.output_bytes > 0) {
      text += fmt::format("out {}\n", buffer.output_bytes);
    } else {
      text += fmt::format("in {} {}\n", inputs.size(), buffer.input.size());
      inputs.append(reinterpret_cast<const char*>(buffer.input.data()), buffer.input.size());
    }
  }
  for (size_t i = 0; i < c.textures.size(); ++i) {
    const TextureCase& t = c.textures[i];
    text += fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {}\n",
                        t.surface ? "surface" : "texture", t.kind, t.dimensions, t.format,
                        t.channels, t.width, t.height, t.depth, t.address, t.linear_filter ? 1 : 0,
                        t.normalised ? 1 : 0, t.read_as_float ? 1 : 0, inputs.size(), t.bytes());
    inputs.append(reinterpret_cast<const char*>(c.texels[i].data()), c.texels[i].size());
  }
  return text + "end\n";
}

Result<void> Write(const Options& options, const std::vector<Case>& cases) {
  OPTIML_TRY(CreateDirectories(options.folder));
  std::string inputs;
  std::string description;
  for (size_t i = 0; i < cases.size(); ++i) {
    description += Describe(cases[i], i, inputs);
    OPTIML_TRY(WriteFileAtomically(options.folder / fmt::format("{}.ptx", i), cases[i].ptx));
  }
  OPTIML_TRY(WriteFileAtomically(options.folder / "inputs.bin", inputs));
  OPTIML_TRY(WriteFileAtomically(options.folder / "cases.txt", description));
  fmt::print("{} cases, {} bytes of inputs\n", cases.size(), inputs.size());
  return {};
}

// outputs.bin: for each case one byte (1: ran, 0: failed), then its outputs.
Result<void> Compare(const Options& options, const std::vector<Case>& cases) {
  OPTIML_ASSIGN(const std::string all, ReadFile(options.folder / "outputs.bin"));
  size_t at = 0;
  size_t agreed = 0;
  size_t differed = 0;
  size_t unsupported = 0;
  for (const Case& c : cases) {
    const bool ran = at < all.size() && all[at++] == 1;
    Outputs gpu;
    for (const size_t bytes : OutputSizes(c)) {
      auto& output = gpu.emplace_back(bytes);
      if (ran) {
        if (at + bytes > all.size()) {
          return Error(ErrorCode::kInvalidArgument, fmt::format("outputs.bin ends in {}", c.name));
        }
        std::memcpy(output.data(), all.data() + at, bytes);
        at += bytes;
      }
    }
    if (c.name.find(options.only) == std::string::npos) {
      continue;
    }
    if (!ran) {
      fmt::print("{}: the GPU could not run it\n", c.name);
      continue;
    }
    if (options.command == "record") {
      fmt::print("{} {}\n", c.name.substr(0, c.name.find(' ')), RecordOf(c, gpu));
      continue;
    }
    const auto emulated = Emulate(c);
    if (!emulated) {
      ++unsupported;
      fmt::print("{}: {}\n", c.name, emulated.error().message());
      continue;
    }
    const Comparison comparison = CompareOutputs(c, *emulated, gpu, options.show);
    if (comparison.differences == 0) {
      ++agreed;
    } else {
      ++differed;
    }
    if (comparison.differences > 0 || !c.close_type.empty()) {
      fmt::print("{}: {} of {} differ{}{}\n", c.name, comparison.differences, comparison.elements,
                 c.close_type.empty()
                     ? ""
                     : fmt::format(", at most {} ulp of {}, {:.3g}", comparison.most_ulp,
                                   c.close_type, comparison.most_difference),
                 comparison.text);
    }
  }
  if (options.command == "compare") {
    fmt::print("{} cases agree, {} differ, {} are not supported\n", agreed, differed, unsupported);
  }
  return {};
}

void Run(const Options& options, const std::vector<Case>& cases) {
  size_t ran = 0;
  size_t chosen = 0;
  for (const Case& c : cases) {
    if (c.name.find(options.only) == std::string::npos) {
      continue;
    }
    ++chosen;
    const auto emulated = Emulate(c);
    if (emulated) {
      ++ran;
    } else {
      fmt::print("{}: {}\n", c.name, emulated.error().message());
    }
  }
  fmt::print("{} of {} cases ran\n", ran, chosen);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::vector<std::string> words(argv + 1, argv + argc);
  for (size_t i = 0; i < words.size(); ++i) {
    const auto value = [&] { return i + 1 < words.size() ? words[++i] : std::string(); };
    if (words[i] == "--seed") {
      options.seed = std::stoull(value());
    } else if (words[i] == "--only") {
      options.only = value();
    } else if (words[i] == "--show") {
      options.show = std::stoull(value());
    } else if (options.command.empty()) {
      options.command = words[i];
    } else if (options.folder.empty() && options.command != "run") {
      options.folder = words[i];
    } else {
      options.lists.push_back(words[i]);
    }
  }
  std::vector<Case> cases;
  for (const std::string& list : options.lists) {
    const auto text = ReadFile(list);
    if (!text) {
      return Fail(text.error().message());
    }
    auto more = ParseCases(*text, std::filesystem::path(list).stem().string(), options.seed);
    if (!more) {
      return Fail(more.error().message());
    }
    for (Case& c : *more) {
      cases.push_back(std::move(c));
    }
  }
  if (options.command == "run") {
    Run(options, cases);
    return 0;
  }
  if (options.command != "write" && options.command != "compare" && options.command != "record") {
    return Fail("usage: agree write|compare|record FOLDER LIST... | agree run LIST...");
  }
  const auto done = options.command == "write" ? Write(options, cases) : Compare(options, cases);
  return done ? 0 : Fail(done.error().message());
}

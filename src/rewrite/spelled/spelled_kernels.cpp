#include "rewrite/spelled/spelled_kernels.h"

#include <iterator>

#include "base/check.h"

namespace optiml::rewrite::testing {
namespace {

using Role = SpelledArgument::Role;

// Neighbouring elements and elements a row apart differ.
uint64_t Mix(uint64_t value) {
  value = (value + 0x9E3779B97F4A7C15) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

}  // namespace

int64_t SpelledArgument::Elements(const Sizes& sizes) const {
  int64_t elements = 1;
  for (const std::string& extent : extents) {
    elements *= sizes.at(extent);
  }
  return elements;
}

std::vector<Spelling> WithLaunchers(const std::string& parameters,
                                    std::span<const SpellingText> texts,
                                    const std::string& before) {
  std::vector<Spelling> spellings;
  for (const SpellingText& text : texts) {
    std::string file = text.kernel;
    file += "extern \"C\" void run(" + parameters + ") {\n" + before;
    file += "  " + std::string(text.launch) + "\n}\n";
    spellings.push_back({text.name, file});
  }
  return spellings;
}

SpelledShape MatrixShape(const std::string& name, const std::vector<std::string>& written) {
  SpelledShape shape;
  shape.name = name;
  shape.arguments = {{Role::kInput, DType::kF32, {"rows", "cols"}},
                     {Role::kOutput, DType::kF32, written},
                     {Role::kSize, DType::kI32, {"rows"}},
                     {Role::kSize, DType::kI32, {"cols"}}};
  shape.timed = {{"rows", 1024}, {"cols", 1024}};
  return shape;
}

const std::vector<SpelledShape>& SpelledShapes() {
  static const std::vector<SpelledShape> kAll = [] {
    std::vector<SpelledShape> all = SpelledMaps();
    for (std::vector<SpelledShape> more : {SpelledRowFolds(), SpelledFolds(), SpelledTiles()}) {
      std::move(more.begin(), more.end(), std::back_inserter(all));
    }
    return all;
  }();
  return kAll;
}

const SpelledShape& FindSpelledShape(const std::string& name) {
  for (const SpelledShape& shape : SpelledShapes()) {
    if (shape.name == name) {
      return shape;
    }
  }
  OPTIML_CHECK(false, "there is a shape of that name");
  return SpelledShapes()[0];
}

std::vector<Argument> ArgumentsAt(const SpelledShape& shape, const Sizes& sizes) {
  std::vector<Argument> arguments;
  for (const SpelledArgument& argument : shape.arguments) {
    if (argument.is_buffer()) {
      arguments.push_back(Bytes(static_cast<double>(argument.Elements(sizes)) *
                                static_cast<double>(DTypeBytes(argument.dtype))));
    } else if (argument.role == SpelledArgument::kSize) {
      arguments.push_back(Integer(static_cast<double>(argument.Elements(sizes))));
    } else {
      arguments.push_back(Fraction(kSpelledFraction));
    }
  }
  return arguments;
}

KernelCase CaseOf(const SpelledShape& shape, const Spelling& spelling) {
  return {"run", spelling.text, ArgumentsAt(shape, shape.timed)};
}

std::vector<std::vector<double>> FillArguments(const SpelledShape& shape, const Sizes& sizes) {
  std::vector<std::vector<double>> values;
  for (size_t a = 0; a < shape.arguments.size(); ++a) {
    const SpelledArgument& argument = shape.arguments[a];
    std::vector<double>& filled = values.emplace_back();
    if (!argument.is_buffer() || argument.role == SpelledArgument::kOutput) {
      continue;
    }
    const auto bins = sizes.find("bins");
    const uint64_t range =
        bins == sizes.end() ? 16 : static_cast<uint64_t>(bins->second) + 4;  // beyond both ends
    for (int64_t i = 0; i < argument.Elements(sizes); ++i) {
      const uint64_t random = Mix((a << 40) + static_cast<uint64_t>(i)) >> 8;
      filled.push_back(IsFloat(argument.dtype) ? static_cast<double>(random % 33) / 16 - 1
                                               : static_cast<double>(random % range) - 2);
    }
  }
  return values;
}

std::string SpelledEdit::Name() const {
  std::string name = shape;
  for (const Edit& edit : chain) {
    name += "_" + edit.rewrite;
    for (const auto& [hole, value] : edit.parameters) {
      name += std::to_string(value);
    }
  }
  return name;
}

const std::vector<SpelledEdit>& SpelledEdits() {
  const auto edit = [](const char* name, const Parameters& holes = {}) {
    return MakeEdit(name, holes);
  };
  const auto rows = [](int64_t threads) { return MakeEdit("row_fold", {{"threads", threads}}); };
  const auto items = [](const char* name, int64_t of) { return MakeEdit(name, {{"items", of}}); };
  const auto split = [](int64_t blocks) { return MakeEdit("split_fold", {{"blocks", blocks}}); };
  const auto bins = [](int64_t copies) { return MakeEdit("privatise", {{"replicas", copies}}); };
  const auto results = [](int64_t m, int64_t n) {
    return MakeEdit("register_tile", {{"m", m}, {"n", n}});
  };
  const Edit tiles = edit("tile_shared", {{"m", 32}, {"n", 32}, {"k", 32}});
  const Edit small_tiles = edit("tile_shared", {{"m", 16}, {"n", 16}, {"k", 16}});
  const Edit width2 = edit("vector_width", {{"width", 2}});
  const Edit width4 = edit("vector_width", {{"width", 4}});
  const Edit bounds = edit("launch_bounds", {{"blocks", 4}});
  static const std::vector<SpelledEdit> kAll = {
      {"S1", "scale_rows", {edit("flatten")}},
      {"S2", "axpb", {edit("block_size", {{"threads", 512}})}},
      {"S2 S10", "softmax", {rows(32)}},
      {"S2 S10", "normalise", {rows(128)}},
      {"S3", "row_map", {edit("interchange")}},
      {"S3 S10", "column_sum", {edit("column_fold", {{"slices", 16}})}},
      {"S4", "axpb", {width4}},
      {"S4", "scale_rows", {edit("flatten"), width4}},
      {"S4", "normalise", {rows(64), width4}},
      {"S4", "sum", {split(8), width4}},
      {"S4", "matmul", {tiles, results(4, 4), width4}},
      {"S5", "axpb", {width2, items("coarsen", 4)}},
      {"S5", "sum", {split(4), items("coarsen", 4)}},
      {"S5", "histogram", {bins(4), width4, items("coarsen", 2)}},
      {"S7 S8", "matmul", {small_tiles}},
      {"S7 S8", "transpose", {edit("turn_tile", {{"tile", 32}, {"rows", 8}})}},
      {"S8", "matmul", {tiles, edit("double_buffer")}},
      {"S9", "matmul", {tiles, results(4, 4)}},
      {"S9 S12", "blur", {edit("register_window", {{"columns", 4}, {"rows", 2}})}},
      {"S11", "softmax", {rows(64), width4, items("keep_row", 4)}},
      {"S11", "normalise", {rows(256), items("keep_row", 4)}},
      {"S15", "softmax", {rows(256), bounds}},
      {"S15", "matmul", {tiles, results(2, 2), bounds}},
      {"A1 S10", "sum", {split(8)}},
      {"A2", "softmax", {rows(128), edit("fuse_folds")}},
      {"A2", "normalise", {rows(128), edit("fuse_folds")}},
      {"A3", "histogram", {bins(8)}}};
  return kAll;
}

}  // namespace optiml::rewrite::testing

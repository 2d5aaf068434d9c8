#include "task/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace optiml {
namespace {

template <typename T>
struct Row {
  T value;
  std::string_view name;
};

constexpr std::array<Row<FillKind>, 14> kFills = {{{FillKind::kNormal, "normal"},
                                                   {FillKind::kUniform, "uniform"},
                                                   {FillKind::kRandInt, "randint"},
                                                   {FillKind::kConstant, "constant"},
                                                   {FillKind::kZeros, "zeros"},
                                                   {FillKind::kSorted, "sorted"},
                                                   {FillKind::kPermutation, "permutation"},
                                                   {FillKind::kOffsets, "offsets"},
                                                   {FillKind::kOneHot, "one_hot"},
                                                   {FillKind::kMixedScale, "mixed_scale"},
                                                   {FillKind::kHeavyTailed, "heavy_tailed"},
                                                   {FillKind::kSpecial, "special"},
                                                   {FillKind::kAllNegative, "all_negative"},
                                                   {FillKind::kSmallInts, "small_ints"}}};
constexpr std::array<Row<ArgRole>, 4> kRoles = {{{ArgRole::kIn, "in"},
                                                 {ArgRole::kOut, "out"},
                                                 {ArgRole::kInOut, "inout"},
                                                 {ArgRole::kWorkspace, "workspace"}}};

template <typename T, size_t N>
std::string_view NameIn(const std::array<Row<T>, N>& rows, T value) {
  return std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.value == value; })
      ->name;
}

template <typename T, size_t N>
Result<T> ParseIn(const std::array<Row<T>, N>& rows, std::string_view what, std::string_view name) {
  std::string known;
  for (const Row<T>& row : rows) {
    if (row.name == name) {
      return row.value;
    }
    known.append(known.empty() ? "" : " ").append(row.name);
  }
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("unknown {} \"{}\" (known: {})", what, name, known));
}

}  // namespace

std::string_view FillKindName(FillKind kind) {
  return NameIn(kFills, kind);
}

Result<FillKind> ParseFillKind(std::string_view name) {
  return ParseIn(kFills, "fill", name);
}

std::string_view ArgRoleName(ArgRole role) {
  return NameIn(kRoles, role);
}

Result<ArgRole> ParseArgRole(std::string_view name) {
  return ParseIn(kRoles, "role", name);
}

bool IsOutput(const ArgSpec& arg) {
  return arg.is_buffer && (arg.role == ArgRole::kOut || arg.role == ArgRole::kInOut);
}

std::string_view ReferenceKindName(ReferenceKind kind) {
  switch (kind) {
    case ReferenceKind::kHost:
      return "host";
    case ReferenceKind::kOriginal:
      return "original";
    case ReferenceKind::kRecorded:
      return "recorded";
  }
  return "original";
}

bool IsIdentifier(std::string_view text) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::all_of(text.begin(), text.end(), is_word);
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::vector<std::string> SplitTrimmed(std::string_view text, char separator) {
  std::vector<std::string> parts;
  if (Trim(text).empty()) {
    return parts;
  }
  while (true) {
    const size_t end = text.find(separator);
    parts.emplace_back(Trim(text.substr(0, end)));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

std::optional<double> ParseNumber(std::string_view text) {
  text = Trim(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    return std::nullopt;
  }
  return value;
}

std::optional<int64_t> ParseInteger(std::string_view text) {
  text = Trim(text);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    return std::nullopt;
  }
  return value;
}

}  // namespace optiml

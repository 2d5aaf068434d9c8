#include "build/ptx_text.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>

namespace optiml {
namespace {

// Of a block, declared in the source, on every architecture (CUDA C++ Programming Guide, "Compute
// Capabilities").
constexpr uint64_t kStaticSharedLimit = 48 * 1024;

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      break;
    }
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) {
    text.remove_prefix(1);
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
    text.remove_suffix(1);
  }
  return text;
}

// Comments become one space; strings are left alone.
std::string WithoutComments(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view two = text.substr(i, 2);
    if (!in_string && two == "//") {
      i = text.find('\n', i);
      if (i == std::string_view::npos) {
        break;
      }
      out += '\n';
    } else if (!in_string && two == "/*") {
      const size_t end = text.find("*/", i + 2);
      if (end == std::string_view::npos) {
        break;
      }
      out += ' ';
      i = end + 1;
    } else {
      if (text[i] == '"' && (i == 0 || text[i - 1] != '\\')) {
        in_string = !in_string;
      }
      out += text[i];
    }
  }
  return out;
}

// The number right before `word` ("32" of "Used 32 registers" for " registers").
std::optional<uint64_t> NumberBefore(std::string_view line, std::string_view word) {
  const size_t at = line.find(word);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  size_t begin = at;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(line[begin - 1])) != 0) {
    --begin;
  }
  uint64_t value = 0;
  const auto parsed = std::from_chars(line.data() + begin, line.data() + at, value);
  if (parsed.ec != std::errc() || begin == at) {
    return std::nullopt;
  }
  return value;
}

// What stands between the first two quotes after `prefix`.
std::optional<std::string> QuotedAfter(std::string_view line, std::string_view prefix) {
  const size_t at = line.find(prefix);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const size_t begin = line.find('\'', at);
  const size_t end = begin == std::string_view::npos ? begin : line.find('\'', begin + 1);
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  return std::string(line.substr(begin + 1, end - begin - 1));
}

}  // namespace

std::string NormalisePtx(std::string_view ptx) {
  const std::string code = WithoutComments(ptx);
  std::string out;
  out.reserve(code.size());
  bool in_debug_section = false;
  for (const std::string_view raw : Lines(code)) {
    const std::string_view line = Trim(raw);
    if (in_debug_section) {
      in_debug_section = line.find('}') == std::string_view::npos;
      continue;
    }
    if (line.rfind(".section", 0) == 0) {
      in_debug_section = line.find('}') == std::string_view::npos;
      continue;
    }
    if (line.empty() || line.rfind(".loc", 0) == 0 || line.rfind(".file", 0) == 0) {
      if (line.rfind(".local", 0) != 0) {
        continue;
      }
    }
    out += line;
    out += '\n';
  }
  return out;
}

std::vector<std::string> PtxEntries(std::string_view ptx) {
  std::vector<std::string> entries;
  const std::string code = WithoutComments(ptx);
  size_t at = 0;
  while ((at = code.find(".entry", at)) != std::string::npos) {
    at += 6;
    const size_t begin = code.find_first_not_of(" \t\r\n", at);
    const size_t end = code.find_first_of(" \t\r\n({", begin);
    if (begin == std::string::npos || end == std::string::npos) {
      break;
    }
    entries.push_back(code.substr(begin, end - begin));
  }
  return entries;
}

std::string WithPlainFileName(std::string_view ptx, std::string_view file_name) {
  const std::string tail = fmt::format("/{}\"", file_name);
  std::string out;
  out.reserve(ptx.size());
  for (const std::string_view line : Lines(ptx)) {
    const size_t quote = line.find('"');
    const size_t at = line.rfind(tail);
    if (Trim(line).rfind(".file", 0) == 0 && at != std::string_view::npos && quote < at) {
      out += line.substr(0, quote + 1);
      out += line.substr(at + 1);
    } else {
      out += line;
    }
    out += '\n';
  }
  return out;
}

std::map<std::string, KernelResources> ParseResourceLog(std::string_view log) {
  std::map<std::string, KernelResources> resources;
  KernelResources* current = nullptr;
  for (const std::string_view line : Lines(log)) {
    if (const auto name = QuotedAfter(line, "Compiling entry function")) {
      current = &resources[*name];
      current->lowered_name = *name;
      continue;
    }
    // Properties follow, of the entry and of functions that it calls: their stacks add up.
    if (current == nullptr || line.rfind("ptxas", 0) != 0) {
      continue;
    }
    current->stack_bytes += NumberBefore(line, " bytes stack frame").value_or(0);
    current->spill_store_bytes += NumberBefore(line, " bytes spill stores").value_or(0);
    current->spill_load_bytes += NumberBefore(line, " bytes spill loads").value_or(0);
    if (const auto registers = NumberBefore(line, " registers")) {
      current->registers = static_cast<int>(*registers);
      current->barriers = static_cast<int>(NumberBefore(line, " barriers").value_or(0));
      current->static_shared_bytes = NumberBefore(line, " bytes smem").value_or(0);
    }
  }
  return resources;
}

std::string WithoutResourceReport(std::string_view log) {
  std::string out;
  for (const std::string_view line : Lines(log)) {
    const bool report = line.rfind("ptxas info", 0) == 0 || line.rfind("ptxas  ", 0) == 0;
    if (!report && !Trim(line).empty()) {
      out += line;
      out += '\n';
    }
  }
  return out;
}

std::string FirstAssemblerError(std::string_view log) {
  std::string fatal;
  bool ran = false;
  for (const std::string_view raw : Lines(log)) {
    const std::string_view line = Trim(raw);
    if (line.rfind("ptxas", 0) != 0) {
      continue;
    }
    ran = true;
    const size_t colon = line.find(" : ");
    if (colon == std::string_view::npos) {
      continue;
    }
    const std::string_view kind = Trim(line.substr(0, colon));
    const std::string_view message = Trim(line.substr(colon + 3));
    if (kind.ends_with("error")) {
      return std::string(message);
    }
    if (kind.ends_with("fatal") && fatal.empty()) {
      fatal = message;
    }
  }
  if (!fatal.empty() || !ran) {
    return fatal;
  }
  // Too much shared memory: NVRTC's ptxas fails without a word.
  for (const auto& [name, kernel] : ParseResourceLog(log)) {
    if (kernel.static_shared_bytes > kStaticSharedLimit) {
      return fmt::format("{} declares {} bytes of shared memory, {} are allowed", name,
                         kernel.static_shared_bytes, kStaticSharedLimit);
    }
  }
  return "ptxas fails and gives no reason";
}

std::string FirstError(std::string_view log) {
  std::string_view first;
  for (const std::string_view raw : Lines(log)) {
    const std::string_view line = Trim(raw);
    if (first.empty()) {
      first = line;
    }
    for (const std::string_view mark : {"): error: ", "): error #", "): catastrophic error: "}) {
      const size_t at = line.find(mark);
      const size_t open = at == std::string_view::npos ? at : line.rfind('(', at);
      if (open != std::string_view::npos) {
        std::string_view message = line.substr(at + mark.size());
        if (mark.back() == '#') {  // "error #20012-D: text"
          const size_t colon = message.find(": ");
          message = colon == std::string_view::npos ? message : message.substr(colon + 2);
        }
        return fmt::format("{}:{}: {}", line.substr(0, open), line.substr(open + 1, at - open - 1),
                           message);
      }
    }
  }
  return std::string(first);
}

}  // namespace optiml

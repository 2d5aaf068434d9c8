#include "corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>

#include "base/rng.h"

namespace optiml::agree {
namespace {

// An element type of an operand: how wide its registers are and how elements are filled.
struct ElementType {
  std::string_view name;
  uint32_t bytes;     // of an element
  uint32_t elements;  // in a register
  int exponent_bits;  // 0: integers
  int fraction_bits;
};
constexpr ElementType kTypes[] = {
    {"b8", 1, 1, 0, 0},     {"b16", 2, 1, 0, 0},    {"b32", 4, 1, 0, 0},    {"b64", 8, 1, 0, 0},
    {"f16", 2, 1, 5, 10},   {"bf16", 2, 1, 8, 7},   {"f32", 4, 1, 8, 23},   {"f64", 8, 1, 11, 52},
    {"f16x2", 2, 2, 5, 10}, {"bf16x2", 2, 2, 8, 7}, {"tf32", 4, 1, 8, 23},  {"e4m3", 1, 1, 4, 3},
    {"e5m2", 1, 1, 5, 2},   {"e4m3x2", 1, 2, 4, 3}, {"e5m2x2", 1, 2, 5, 2}, {"e4m3x4", 1, 4, 4, 3},
    {"e5m2x4", 1, 4, 5, 2}, {"b8x4", 1, 4, 0, 0},
};

const ElementType* FindType(std::string_view name) {
  for (const ElementType& type : kTypes) {
    if (type.name == name) {
      return &type;
    }
  }
  return nullptr;
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  size_t at = 0;
  while (at <= text.size()) {
    const size_t next = std::min(text.find(separator, at), text.size());
    if (next > at || separator != ' ') {
      parts.emplace_back(text.substr(at, next - at));
    }
    at = next + 1;
  }
  return parts;
}

struct BadLine {
  std::string why;
};

int64_t Number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw BadLine{fmt::format("'{}' is not a number", text)};
  }
  return value;
}

// The bits of one element.
uint64_t Element(const ElementType& type, const std::vector<std::string>& fill, uint64_t random,
                 uint64_t thread) {
  const uint32_t bits = 8 * type.bytes;
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  const std::string& kind = fill[0];
  if (kind == "zero") {
    return 0;
  }
  if (kind == "index") {
    return thread & mask;
  }
  if (kind == "below") {
    return (random >> 8) % static_cast<uint64_t>(Number(fill.at(1))) & mask;
  }
  const uint64_t sign = uint64_t{1} << (bits - 1);
  if (kind == "bits") {
    if ((random & 7) != 0 || type.exponent_bits == 0) {
      static constexpr uint64_t kIntegers[] = {0,
                                               1,
                                               2,
                                               0x7f,
                                               0x80,
                                               0xff,
                                               0x7fff,
                                               0x8000,
                                               0xffff,
                                               0x7fffffff,
                                               0x80000000,
                                               0xffffffff,
                                               0x7fffffffffffffff,
                                               0x8000000000000000,
                                               ~uint64_t{0},
                                               31};
      return ((random & 7) == 0 ? kIntegers[(random >> 3) & 15] : random >> 3 ^ random << 50) &
             mask;
    }
    const uint64_t one = ((uint64_t{1} << (type.exponent_bits - 1)) - 1) << type.fraction_bits;
    const uint64_t infinity = ((uint64_t{1} << type.exponent_bits) - 1) << type.fraction_bits;
    const uint64_t edges[] = {0,
                              infinity,
                              infinity + 1,
                              infinity - 1,
                              one,
                              1,
                              uint64_t{1} << type.fraction_bits,
                              (uint64_t{1} << type.fraction_bits) - 1};
    return (edges[(random >> 3) & 7] & (sign - 1)) | ((random & 64) != 0 ? sign : 0);
  }
  if (kind == "sparse" && (random & 2) != 0) {
    return (random & 1) != 0 ? sign : 0;
  }
  if (kind == "exp" || kind == "sparse") {
    const int64_t low = Number(fill.at(1));
    const int64_t high = Number(fill.at(2));
    const int64_t bias = (int64_t{1} << (type.exponent_bits - 1)) - 1;
    const int64_t exponent =
        low + static_cast<int64_t>((random >> 3) % static_cast<uint64_t>(high - low + 1)) + bias;
    const uint64_t fraction = (random >> 12) & ((uint64_t{1} << type.fraction_bits) - 1);
    return ((random & 1) != 0 ? sign : 0) | fraction |
           (static_cast<uint64_t>(std::max<int64_t>(exponent, 0)) << type.fraction_bits);
  }
  if (kind == "range") {
    const auto low = static_cast<double>(Number(fill.at(1)));
    const auto high = static_cast<double>(Number(fill.at(2)));
    const double value = low + (high - low) * ToUnit(random);
    if (type.name == "f32" || type.name == "tf32") {
      uint32_t out = 0;
      const auto narrow = static_cast<float>(value);
      std::memcpy(&out, &narrow, 4);
      return out;
    }
    if (type.name == "f64") {
      uint64_t out = 0;
      std::memcpy(&out, &value, 8);
      return out;
    }
    if (type.exponent_bits == 0) {
      return static_cast<uint64_t>(static_cast<int64_t>(value)) & mask;
    }
    // Truncated to the narrow format.
    int exponent = 0;
    const double fraction = std::frexp(std::fabs(value), &exponent) * 2;
    --exponent;
    const int bias = (1 << (type.exponent_bits - 1)) - 1;
    if (value == 0 || exponent < 1 - bias) {
      return 0;
    }
    return (value < 0 ? sign : 0) | (static_cast<uint64_t>(exponent + bias) << type.fraction_bits) |
           static_cast<uint64_t>((fraction - 1) * std::ldexp(1.0, type.fraction_bits));
  }
  throw BadLine{
      fmt::format("unknown fill '{}' (known: bits exp sparse range below index zero)", kind)};
}

std::vector<std::byte> Fill(const ElementType& type, const std::vector<std::string>& fill,
                            size_t elements, size_t per_thread, uint64_t seed) {
  std::vector<std::byte> bytes(elements * type.bytes);
  for (size_t i = 0; i < elements; ++i) {
    const uint64_t value = Element(type, fill, RandomAt(seed, i), i / per_thread);
    std::memcpy(bytes.data() + i * type.bytes, &value, type.bytes);
  }
  return bytes;
}

// Chooses alternatives: `choices` holds what was chosen so far, in order of meeting; linked ones
// share the first. Fills `counts` with how many each has.
std::string Choose(const std::string& text, const std::vector<size_t>& choices,
                   std::vector<size_t>& counts, std::map<char, size_t>& linked) {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    const size_t open = text.find('<', at);
    const size_t close = open == std::string::npos ? open : text.find('>', open);
    const bool alternatives = close != std::string::npos &&
                              text.substr(open, close - open).find('|') != std::string::npos;
    if (!alternatives) {
      return out + text.substr(at);
    }
    out += text.substr(at, open - at);
    std::string inside = text.substr(open + 1, close - open - 1);
    const bool link = inside[0] == '#' || inside[0] == '@';
    const auto parts = Split(link ? inside.substr(1) : inside, '|');
    size_t slot = counts.size();
    if (link && linked.contains(inside[0])) {
      slot = linked[inside[0]];
      if (counts[slot] != parts.size()) {
        throw BadLine{fmt::format("'<{}>' has not as many choices as the one before", inside)};
      }
    } else {
      counts.push_back(parts.size());
      if (link) {
        linked[inside[0]] = slot;
      }
    }
    out += parts[slot < choices.size() ? choices[slot] : 0];
    at = close + 1;
  }
  return out;
}

class CaseMaker {
 public:
  CaseMaker(std::string name, uint64_t seed) : seed_(seed) { case_.name = std::move(name); }

  Case Make(const std::string& head, const std::vector<std::string>& lines) {
    auto words = Split(head, ' ');
    for (size_t i = 1; i < words.size(); ++i) {
      if (words[i] == "ulp") {
        case_.ulp = static_cast<uint64_t>(Number(words.at(++i)));
        case_.close_type = words.at(++i);
      } else if (words[i] == "absolute") {
        case_.absolute = std::stod(words.at(++i));
        case_.close_type = words.at(++i);
      } else if (words[i] == "nan") {
        case_.close_type = words.at(++i);
      } else if (words[i] == "block") {
        case_.block = static_cast<uint32_t>(Number(words.at(++i)));
      } else if (words[i] == "grid") {
        case_.grid = static_cast<uint32_t>(Number(words.at(++i)));
      }
    }
    for (size_t i = 1; i < words.size(); ++i) {
      if (words[i] == "ulp" || words[i] == "absolute") {
        i += 2;
      } else if (words[i] == "block" || words[i] == "grid" || words[i] == "nan") {
        ++i;
      } else {
        AddOperand(words[i]);
      }
    }
    std::string body;
    for (const std::string& line : lines) {
      body += Expand(line) + "\n";
    }
    Finish(body);
    return std::move(case_);
  }

 private:
  uint64_t threads() const { return uint64_t{case_.grid} * case_.block; }

  std::string NewParameter() {
    const std::string name = fmt::format("p{}", parameters_++);
    signature_ += fmt::format("{}.param .u64 {}", signature_.empty() ? "" : ", ", name);
    return name;
  }

  void AddOperand(const std::string& word) {
    auto parts = Split(word, ':');
    const std::string name = parts[0];
    if (name == "texture" || name == "surface") {
      AddTexture(parts);
      return;
    }
    if (name == "shared" || name == "dump") {
      AddShared(parts);
      return;
    }
    if (parts.size() < 2) {
      throw BadLine{fmt::format("'{}' is no operand", word)};
    }
    const auto star = parts[1].find('*');
    const std::string type_name = parts[1].substr(0, star);
    const ElementType* type = FindType(type_name);
    if (type == nullptr) {
      throw BadLine{fmt::format("unknown type '{}'", type_name)};
    }
    const auto count = star == std::string::npos
                           ? size_t{1}
                           : static_cast<size_t>(Number(parts[1].substr(star + 1)));
    const bool many = star != std::string::npos;
    const uint32_t bytes = type->bytes * type->elements;
    counts_[name] = many ? count : 0;
    declarations_ += fmt::format(".reg .b{} %{}{};\n", std::max(bytes, 2u) * 8, name,
                                 many ? fmt::format("<{}>", count) : "");
    const std::string parameter = NewParameter();
    const bool result = name[0] >= 'd' && name[0] <= 'g';
    std::string& code = result ? epilogue_ : prologue_;
    code += fmt::format(
        "ld.param.u64 %x, [{}];\ncvta.to.global.u64 %x, %x;\nmad.wide.u32 %x, %i, {}, %x;\n",
        parameter, bytes * count);
    for (size_t i = 0; i < count; ++i) {
      const std::string reg = fmt::format("%{}{}", name, many ? std::to_string(i) : "");
      code += result ? fmt::format("st.global.b{} [%x+{}], {};\n", bytes * 8, i * bytes, reg)
                     : fmt::format("ld.global.b{} {}, [%x+{}];\n", bytes * 8, reg, i * bytes);
      if (result) {
        prologue_ += fmt::format("mov.b{} {}, 0;\n", std::max(bytes, 2u) * 8, reg);
      }
    }
    Buffer buffer;
    buffer.name = name;
    buffer.element_bytes = type->bytes;
    if (result) {
      buffer.output_bytes = threads() * count * bytes;
    } else {
      const std::vector<std::string> fill =
          parts.size() > 2 ? std::vector<std::string>(parts.begin() + 2, parts.end())
                           : std::vector<std::string>{"bits"};
      buffer.input = Fill(*type, fill, threads() * count * type->elements, count * type->elements,
                          RandomAt(seed_, parameters_));
    }
    case_.buffers.push_back(std::move(buffer));
  }

  void AddShared(const std::vector<std::string>& parts) {
    const auto bytes = static_cast<size_t>(Number(parts.at(1)));
    const std::string parameter = NewParameter();
    const bool dump = parts[0] == "dump";
    std::string& code = dump ? epilogue_ : prologue_;
    if (!dump || shared_bytes_ == 0) {
      shared_bytes_ = std::max(shared_bytes_, bytes);
    }
    code += fmt::format(
        "{0}ld.param.u64 %x, [{1}];\ncvta.to.global.u64 %x, %x;\nmov.u32 %y, "
        "%ctaid.x;\nmad.wide.u32 "
        "%x, %y, {2}, %x;\n"
        "mov.u32 %z, %tid.x;\nmul.lo.u32 %z, %z, 4;\nmov.u32 %w, smem;\ncopy{3}:\nsetp.ge.u32 %q, "
        "%z, "
        "{2};\n@%q bra copied{3};\ncvt.u64.u32 %v, %z;\nadd.u64 %v, %v, %x;\nadd.u32 %s, %w, %z;\n",
        dump ? "bar.sync 0;\n" : "", parameter, bytes, parameters_);
    code += dump ? "ld.shared.b32 %y, [%s];\nst.global.b32 [%v], %y;\n"
                 : "ld.global.b32 %y, [%v];\nst.shared.b32 [%s], %y;\n";
    code += fmt::format("add.u32 %z, %z, {};\nbra copy{};\ncopied{}:\n", case_.block * 4,
                        parameters_, parameters_);
    code += dump ? "" : "fence.proxy.async;\nbar.sync 0;\n";
    Buffer buffer;
    buffer.name = parts[0];
    if (dump) {
      buffer.output_bytes = bytes * case_.grid;
    } else {
      const ElementType* type = FindType(parts.at(2));
      if (type == nullptr) {
        throw BadLine{fmt::format("unknown type '{}'", parts[2])};
      }
      buffer.element_bytes = type->bytes;
      buffer.input = Fill(*type, {parts.begin() + 3, parts.end()}, bytes * case_.grid / type->bytes,
                          1, RandomAt(seed_, parameters_));
    }
    case_.buffers.push_back(std::move(buffer));
  }

  // texture:NAME:KIND:DIMENSIONS:FORMAT:CHANNELS:WIDTH:HEIGHT:DEPTH:ADDRESS:FILTER:norm|plain:float|element
  void AddTexture(const std::vector<std::string>& parts) {
    TextureCase texture;
    texture.surface = parts[0] == "surface";
    texture.name = parts.at(1);
    texture.kind = parts.at(2);
    texture.dimensions = static_cast<uint32_t>(Number(parts.at(3)));
    texture.format = parts.at(4);
    texture.channels = static_cast<uint32_t>(Number(parts.at(5)));
    texture.width = static_cast<uint32_t>(Number(parts.at(6)));
    texture.height = static_cast<uint32_t>(Number(parts.at(7)));
    texture.depth = static_cast<uint32_t>(Number(parts.at(8)));
    texture.address = parts.at(9);
    texture.linear_filter = parts.at(10) == "linear";
    texture.normalised = parts.at(11) == "norm";
    texture.read_as_float = parts.at(12) == "float";
    const bool real = texture.format[0] == 'f';
    const ElementType* type = FindType(real ? texture.format : "b" + texture.format.substr(1));
    case_.texels.push_back(Fill(
        *type, real ? std::vector<std::string>{"exp", "-4", "3"} : std::vector<std::string>{"bits"},
        texture.bytes() / type->bytes, 1, RandomAt(seed_, 1000 + case_.textures.size())));
    handles_.push_back(texture.name);
    case_.textures.push_back(std::move(texture));
  }

  // Lines may hold `copy D C` (registers of C into those of D) and `desc(LBO,SBO,SWIZZLE)`: the
  // bits of a shared-memory matrix descriptor without its address; sizes in bytes, swizzle as
  // encoded.
  std::string Expand(std::string line) const {
    if (line.starts_with("copy ")) {
      const auto words = Split(line, ' ');
      std::string out;
      for (size_t i = 0; i < counts_.at(words.at(1)); ++i) {
        out += fmt::format("mov.b32 %{}{}, %{}{};\n", words[1], i, words.at(2), i);
      }
      return out;
    }
    for (size_t at = line.find("desc("); at != std::string::npos; at = line.find("desc(")) {
      const size_t close = line.find(')', at);
      const auto words = Split(line.substr(at + 5, close - at - 5), ',');
      const auto bits = static_cast<uint64_t>(Number(words.at(0))) >> 4 << 16 |
                        static_cast<uint64_t>(Number(words.at(1))) >> 4 << 32 |
                        static_cast<uint64_t>(Number(words.at(2))) << 62;
      line.replace(at, close + 1 - at, fmt::format("0x{:x}", bits));
    }
    std::string out;
    for (size_t at = 0; at < line.size(); ++at) {
      const size_t close = line[at] == '{' ? line.find('}', at) : std::string::npos;
      const auto it = close == std::string::npos
                          ? counts_.end()
                          : counts_.find(line.substr(at + 1, close - at - 1));
      if (it == counts_.end()) {
        out += line[at];
        continue;
      }
      out += '{';
      for (size_t i = 0; i < std::max<size_t>(it->second, 1); ++i) {
        out += fmt::format("{}%{}{}", i == 0 ? "" : ", ", it->first,
                           it->second == 0 ? "" : std::to_string(i));
      }
      out += '}';
      at = close;
    }
    return out;
  }

  void Finish(const std::string& body) {
    for (const std::string& handle : handles_) {
      const std::string parameter = NewParameter();
      declarations_ += fmt::format(".reg .b64 %{};\n", handle);
      prologue_ += fmt::format("ld.param.u64 %{}, [{}];\n", handle, parameter);
    }
    case_.ptx = fmt::format(
        ".version 9.0\n.target sm_90a\n.address_size 64\n{}.visible .entry k({})\n{{\n"
        ".reg .b32 %i, %lane, %y, %z, %w, %s, %t<16>;\n.reg .b64 %x, %v, %u<8>;\n.reg .b16 %h<8>;\n"
        ".reg .pred %q, %p<8>;\n{}"
        "mov.u32 %y, %ctaid.x;\nmov.u32 %z, %ntid.x;\nmov.u32 %i, %tid.x;\nmad.lo.u32 %i, %y, %z, "
        "%i;\n"
        "mov.u32 %lane, %laneid;\n",
        shared_bytes_ > 0 ? fmt::format(".shared .align 1024 .b8 smem[{}];\n", shared_bytes_) : "",
        signature_, declarations_);
    case_.ptx += prologue_ + body + epilogue_ + "ret;\n}\n";
  }

  Case case_;
  uint64_t seed_;
  size_t parameters_ = 0;
  size_t shared_bytes_ = 0;
  std::map<std::string, size_t> counts_;  // 0: one register without a number
  std::vector<std::string> handles_;
  std::string signature_;
  std::string declarations_;
  std::string prologue_;
  std::string epilogue_;
};

}  // namespace

size_t TextureCase::texel_bytes() const {
  const size_t element = format == "u8" || format == "s8"                        ? 1
                         : format == "u16" || format == "s16" || format == "f16" ? 2
                                                                                 : 4;
  return element * channels;
}

Result<std::vector<Case>> ParseCases(std::string_view text, std::string_view topic, uint64_t seed) {
  std::vector<Case> cases;
  const auto lines = Split(text, '\n');
  size_t at = 0;
  size_t number = 0;
  while (at < lines.size()) {
    const size_t start = at;
    const std::string& head = lines[at++];
    if (head.empty() || head[0] == '#') {
      continue;
    }
    std::vector<std::string> body;
    while (at < lines.size() && lines[at].starts_with("  ")) {
      body.push_back(lines[at++].substr(2));
    }
    try {
      if (!head.starts_with("case ") || body.empty()) {
        throw BadLine{"expected 'case OPERANDS' and indented lines"};
      }
      std::vector<size_t> choices;
      std::vector<size_t> counts;
      do {
        counts.clear();
        std::map<char, size_t> linked;
        const std::string chosen_head = Choose(head, choices, counts, linked);
        std::vector<std::string> chosen_body;
        for (const std::string& line : body) {
          chosen_body.push_back(Choose(line, choices, counts, linked));
        }
        choices.resize(counts.size(), 0);
        std::string opcode;
        for (const std::string& line : chosen_body) {
          // The longest instruction is what the case is about.
          const size_t begin = line[0] == '@' ? line.find(' ') + 1 : 0;
          const std::string candidate = line.substr(begin, line.find(' ', begin) - begin);
          opcode = candidate.size() > opcode.size() ? candidate : opcode;
        }
        ++number;
        CaseMaker maker(fmt::format("{}/{} {}", topic, number, opcode), RandomAt(seed, number));
        cases.push_back(maker.Make(chosen_head, chosen_body));
        size_t digit = choices.size();
        while (digit > 0 && ++choices[digit - 1] == counts[digit - 1]) {
          choices[--digit] = 0;
        }
        if (digit == 0) {
          break;
        }
      } while (true);
    } catch (const BadLine& bad) {
      return Error(ErrorCode::kParse, fmt::format("{}:{}: {}", topic, start + 1, bad.why));
    } catch (const std::out_of_range&) {
      return Error(ErrorCode::kParse, fmt::format("{}:{}: too few words", topic, start + 1));
    }
  }
  return cases;
}

}  // namespace optiml::agree

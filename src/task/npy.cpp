#include "task/npy.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <optional>

#include "base/file_system.h"
#include "task/names.h"
#include "task/task_file.h"

namespace optiml {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxHeaderBytes = 65'536;

struct DescrRow {
  std::string_view descr;
  DType dtype;
};
constexpr std::array<DescrRow, 12> kDescr = {{{"<f2", DType::kF16},
                                              {"<f4", DType::kF32},
                                              {"<f8", DType::kF64},
                                              {"|i1", DType::kI8},
                                              {"|u1", DType::kU8},
                                              {"<i2", DType::kI16},
                                              {"<u2", DType::kU16},
                                              {"<i4", DType::kI32},
                                              {"<u4", DType::kU32},
                                              {"<i8", DType::kI64},
                                              {"<u8", DType::kU64},
                                              {"|b1", DType::kBool}}};

// The unsigned type of the same width, for types that .npy does not know.
DType RawWord(DType dtype) {
  switch (dtype) {
    case DType::kBf16:
      return DType::kU16;
    case DType::kE4m3:
    case DType::kE5m2:
      return DType::kU8;
    default:
      return dtype;
  }
}

// The text behind "'key':" in the header's dictionary.
std::optional<std::string_view> ValueOf(std::string_view header, std::string_view key) {
  const std::string quoted = fmt::format("'{}':", key);
  const size_t at = header.find(quoted);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  return Trim(header.substr(at + quoted.size()));
}

}  // namespace

Result<Tensor> LoadNpy(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  const auto fail = [&](const std::string& what) {
    return Error(ErrorCode::kParse, fmt::format("{}: {}", name, what));
  };
  OPTIML_ASSIGN(const std::string bytes, ReadFile(file, size_t{1} << 36));
  if (bytes.size() < 10 || std::string_view(bytes).substr(0, 6) != kMagic) {
    return fail("not an .npy file");
  }
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3) {
    return fail(fmt::format("version {} of .npy, expected 1 to 3", version));
  }
  const size_t length_bytes = version == 1 ? 2 : 4;
  if (bytes.size() < 8 + length_bytes) {
    return fail("the file is cut short");
  }
  size_t header_bytes = 0;
  for (size_t i = 0; i < length_bytes; ++i) {
    header_bytes |= static_cast<size_t>(static_cast<unsigned char>(bytes[8 + i])) << (8 * i);
  }
  const size_t data_begin = 8 + length_bytes + header_bytes;
  if (header_bytes > kMaxHeaderBytes || data_begin > bytes.size()) {
    return fail("the file is cut short");
  }
  const std::string_view header = std::string_view(bytes).substr(8 + length_bytes, header_bytes);

  const auto descr = ValueOf(header, "descr");
  const auto order = ValueOf(header, "fortran_order");
  const auto shape_text = ValueOf(header, "shape");
  if (!descr || !order || !shape_text || descr->empty() || (*descr)[0] != '\'' ||
      (*shape_text)[0] != '(' || shape_text->find(')') == std::string_view::npos) {
    return fail("the header has no descr, fortran_order and shape");
  }
  if (!order->starts_with("False")) {
    return fail("the array is in Fortran order: save numpy.ascontiguousarray(a)");
  }
  const std::string_view type = descr->substr(1, descr->find('\'', 1) - 1);
  std::optional<DType> dtype;
  for (const DescrRow& row : kDescr) {
    if (row.descr == type) {
      dtype = row.dtype;
    }
  }
  if (!dtype) {
    return fail(fmt::format("element type '{}' is not supported", type));
  }
  Tensor tensor;
  tensor.dtype = *dtype;
  auto expected = static_cast<int64_t>(DTypeBytes(*dtype));
  for (const std::string& part :
       SplitTrimmed(shape_text->substr(1, shape_text->find(')') - 1), ',')) {
    if (part.empty()) {
      continue;  // "(3,)"
    }
    const std::optional<int64_t> extent = ParseInteger(part);
    if (!extent || *extent < 0 || __builtin_mul_overflow(expected, *extent, &expected)) {
      return fail(fmt::format("shape \"{}\" is no shape", part));
    }
    tensor.shape.push_back(*extent);
  }
  if (bytes.size() - data_begin != static_cast<size_t>(expected)) {
    return fail(fmt::format("{} bytes of data, but the shape says {}", bytes.size() - data_begin,
                            expected));
  }
  tensor.bytes.resize(static_cast<size_t>(expected));
  std::memcpy(tensor.bytes.data(), bytes.data() + data_begin, tensor.bytes.size());
  return tensor;
}

Result<void> SaveNpy(const std::filesystem::path& file, const Tensor& tensor) {
  std::string_view descr;
  for (const DescrRow& row : kDescr) {
    if (row.dtype == RawWord(tensor.dtype)) {
      descr = row.descr;
    }
  }
  std::string shape;
  for (const int64_t extent : tensor.shape) {
    shape += fmt::format("{}, ", extent);
  }
  if (tensor.shape.size() > 1) {
    shape.resize(shape.size() - 2);
  }
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  constexpr size_t kAlignment = 64;
  header.append(kAlignment - (10 + header.size() + 1) % kAlignment, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes += '\x01';
  bytes += '\x00';
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  return WriteFileAtomically(file, bytes);
}

Result<void> CheckRecorded(Tensor& tensor, const ArgSpec& arg, const std::vector<int64_t>& shape,
                           const std::filesystem::path& file) {
  const auto fail = [&](const std::string& what) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: {} {} ({})", file.filename().string(), arg.name, what,
                             WhereSaid(arg, "task.toml")));
  };
  if (tensor.shape != shape) {
    return fail(fmt::format("has shape [{}] in the file, but [{}] in the task",
                            fmt::join(tensor.shape, ", "), fmt::join(shape, ", ")));
  }
  const bool is_output = arg.role == ArgRole::kOut;
  const bool wider =
      is_output && IsFloat(arg.dtype) &&
      (tensor.dtype == DType::kF64 || (tensor.dtype == DType::kF32 && arg.dtype != DType::kF64));
  if (tensor.dtype != arg.dtype && !wider) {
    if (RawWord(arg.dtype) != tensor.dtype) {
      return fail(fmt::format("is {} in the file, but {} in the task", DTypeName(tensor.dtype),
                              DTypeName(arg.dtype)));
    }
    tensor.dtype = arg.dtype;
  }
  return {};
}

}  // namespace optiml

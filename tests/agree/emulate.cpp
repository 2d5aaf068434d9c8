#include "emulate.h"

#include <algorithm>
#include <cstring>

#include "ptx/machine.h"

namespace optiml::agree {
namespace {

ptx::TexelFormat FormatOf(const std::string& name) {
  using Format = ptx::TexelFormat;
  return name == "u8"    ? Format::kU8
         : name == "s8"  ? Format::kS8
         : name == "u16" ? Format::kU16
         : name == "s16" ? Format::kS16
         : name == "u32" ? Format::kU32
         : name == "s32" ? Format::kS32
         : name == "f16" ? Format::kF16
                         : Format::kF32;
}

ptx::TextureAddressMode ModeOf(const std::string& name) {
  using Mode = ptx::TextureAddressMode;
  return name == "wrap"     ? Mode::kWrap
         : name == "mirror" ? Mode::kMirror
         : name == "border" ? Mode::kBorder
                            : Mode::kClamp;
}

}  // namespace

Result<Outputs> Emulate(const Case& c) {
  OPTIML_ASSIGN(const ptx::Module module, ptx::ParsePtx(c.ptx, c.name));
  ptx::DeviceMemory memory;
  std::vector<uint64_t> results;
  ptx::LaunchRequest request;
  request.module = &module;
  request.kernel = "k";
  request.grid = {c.grid};
  request.block = {c.block};
  request.checks = {true, true, false, true};
  request.counters = true;
  const auto pass = [&](uint64_t value) {
    const size_t at = request.parameters.size();
    request.parameters.resize(at + 8);
    std::memcpy(request.parameters.data() + at, &value, 8);
  };
  for (const Buffer& buffer : c.buffers) {
    const bool result = buffer.output_bytes > 0;
    const uint64_t address = memory.Allocate(
        buffer.name, result ? buffer.output_bytes : buffer.input.size(), buffer.element_bytes);
    if (result) {
      results.push_back(address);
    } else {
      std::copy(buffer.input.begin(), buffer.input.end(), memory.Bytes(address).begin());
    }
    pass(address);
  }
  std::vector<uint64_t> surfaces;
  for (size_t i = 0; i < c.textures.size(); ++i) {
    const TextureCase& t = c.textures[i];
    const uint64_t address =
        memory.Allocate(t.name, t.bytes(), static_cast<uint32_t>(t.texel_bytes()));
    std::copy(c.texels[i].begin(), c.texels[i].end(), memory.Bytes(address).begin());
    ptx::Texture texture;
    texture.address = address;
    texture.dimensions = t.dimensions;
    texture.width = t.width;
    texture.height = t.height;
    texture.depth = t.depth;
    texture.format = FormatOf(t.format);
    texture.channels = t.channels;
    texture.linear_memory = t.kind == "linear";
    texture.address_mode.fill(ModeOf(t.address));
    texture.linear_filter = t.linear_filter;
    texture.normalised_coordinates = t.normalised;
    texture.read_as_float = t.read_as_float;
    texture.surface = t.surface;
    OPTIML_ASSIGN(const uint64_t handle, memory.AddTexture(texture));
    pass(handle);
    if (t.surface) {
      surfaces.push_back(address);
    }
  }
  const ptx::LaunchOutcome outcome = ptx::Launch(request, memory);
  if (!outcome.clean()) {
    return Error(
        ErrorCode::kUnavailable,
        outcome.message + (outcome.findings.empty() ? "" : ": " + outcome.findings[0].detail));
  }
  Outputs outputs;
  results.insert(results.end(), surfaces.begin(), surfaces.end());
  for (const uint64_t address : results) {
    const auto bytes = memory.Bytes(address);
    outputs.emplace_back(bytes.begin(), bytes.end());
  }
  return outputs;
}

}  // namespace optiml::agree

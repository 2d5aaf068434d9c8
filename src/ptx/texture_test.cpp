// Textures and surfaces against formulas of the CUDA C++ Programming Guide ("Texture Fetching"),
// written apart.

#include "ptx/texture.h"

#include <cmath>

#include "ptx/test_support.h"

namespace optiml::ptx {
namespace {

// Runs `body` for each place with its coordinates in %f1 %f2 %f3 (floats) and %r1 %r2 %r3 (the
// same, truncated), the handle in %rd9; the results are %r10 to %r13.
struct TextureRun {
  LaunchOutcome outcome;
  std::vector<std::array<uint32_t, 4>> values;
};

TextureRun RunTexture(const std::string& body, DeviceMemory& memory, uint64_t handle,
                      const std::vector<std::array<float, 3>>& places) {
  const std::string prologue =
      "ld.param.u64 %rd1, [p0];\nld.param.u64 %rd2, [p1];\nld.param.u64 %rd9, [p2];\nmov.u32 %r4, "
      "%tid.x;\nmul.wide.u32 "
      "%rd3, %r4, 12;\nadd.u64 %rd3, %rd3, %rd1;\nmul.wide.u32 %rd4, %r4, 16;\nadd.u64 %rd4, %rd4, "
      "%rd2;\nld.global.f32 "
      "%f1, [%rd3];\nld.global.f32 %f2, [%rd3+4];\nld.global.f32 %f3, [%rd3+8];\ncvt.rzi.s32.f32 "
      "%r1, %f1;\n"
      "cvt.rzi.s32.f32 %r2, %f2;\ncvt.rzi.s32.f32 %r3, %f3;\nmov.u32 %r10, 0;\nmov.u32 %r11, "
      "0;\nmov.u32 %r12, 0;\nmov.u32 "
      "%r13, 0;\n";
  const Module module = MustParse(
      KernelText(prologue + body + "\nst.global.v4.u32 [%rd4], {%r10, %r11, %r12, %r13};\n", 3));
  const uint64_t in = Upload(memory, "places", places);
  const uint64_t out =
      Upload(memory, "values", std::vector<std::array<uint32_t, 4>>(places.size()));
  LaunchRequest request = Request(module, "k", {1}, {static_cast<uint32_t>(places.size())},
                                  {Argument(in), Argument(out), Argument(handle)});
  request.checks.initialisation = true;
  request.checks.warp_races = true;
  request.checks.global_races = true;
  request.counters = true;
  TextureRun run;
  run.outcome = Launch(request, memory);
  run.values = Download<std::array<uint32_t, 4>>(memory, out);
  return run;
}

float AsFloat(uint32_t bits) {
  return std::bit_cast<float>(bits);
}

const char* const kRead2d = "tex.2d.v4.f32.f32 {%r10, %r11, %r12, %r13}, [%rd9, {%f1, %f2}];";

// 5 x 3 texels of one channel: 10 * row + column.
std::vector<float> Plane() {
  std::vector<float> texels;
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 5; ++column) {
      texels.push_back(static_cast<float>(10 * row + column));
    }
  }
  return texels;
}

Texture PlaneTexture(DeviceMemory& memory) {
  Texture texture;
  texture.address = Upload(memory, "plane", Plane());
  texture.dimensions = 2;
  texture.width = 5;
  texture.height = 3;
  return texture;
}

uint64_t Add(DeviceMemory& memory, const Texture& texture) {
  const auto handle = memory.AddTexture(texture);
  EXPECT_TRUE(handle.has_value()) << (handle ? "" : handle.error().message());
  return handle ? *handle : 0;
}

TEST(Textures, PointSamplesAndAddressModes) {
  const std::vector<std::array<float, 3>> places = {
      {0, 0, 0},    {4.999f, 2.999f, 0}, {2.5f, 1, 0}, {-0.5f, 1.5f, 0},
      {7, 1.5f, 0}, {1, -3, 0},          {1, 9, 0}};
  DeviceMemory memory;
  Texture texture = PlaneTexture(memory);
  const TextureRun clamped = RunTexture(kRead2d, memory, Add(memory, texture), places);
  ASSERT_TRUE(clamped.outcome.clean()) << clamped.outcome.message;
  const float want[] = {0, 24, 12, 10, 14, 1, 21};
  for (size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(AsFloat(clamped.values[i][0]), want[i]) << i;
    EXPECT_EQ(clamped.values[i][1], 0u);  // channels that the texture lacks
  }
  EXPECT_EQ(clamped.outcome.counters.global_load.requests,
            4u);  // the three coordinates, and the texture
  texture.address_mode.fill(TextureAddressMode::kBorder);
  const TextureRun bordered = RunTexture(kRead2d, memory, Add(memory, texture), places);
  const float border[] = {0, 24, 12, 0, 0, 0, 0};
  for (size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(AsFloat(bordered.values[i][0]), border[i]) << i;
  }
}

TEST(Textures, NormalisedCoordinatesWrapAndMirror) {
  DeviceMemory memory;
  Texture texture = PlaneTexture(memory);
  texture.normalised_coordinates = true;
  const std::vector<std::array<float, 3>> places = {
      {0.5f, 0.5f, 0}, {1.1f, 0, 0}, {-0.1f, 0, 0}, {2.5f, -1.5f, 0}};
  texture.address_mode.fill(TextureAddressMode::kWrap);
  const TextureRun wrapped = RunTexture(kRead2d, memory, Add(memory, texture), places);
  const float want[] = {12, 0, 4, 12};
  texture.address_mode.fill(TextureAddressMode::kMirror);
  const TextureRun mirrored = RunTexture(kRead2d, memory, Add(memory, texture), places);
  const float mirror[] = {12, 4, 0, 12};
  for (size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(AsFloat(wrapped.values[i][0]), want[i]) << i;
    EXPECT_EQ(AsFloat(mirrored.values[i][0]), mirror[i]) << i;
  }
}

// The weights have 8 bits of fraction; corner weights are whole 256ths.
TEST(Textures, LinearFilterHasEightBitsOfFraction) {
  DeviceMemory memory;
  Texture texture = PlaneTexture(memory);
  texture.linear_filter = true;
  std::vector<std::array<float, 3>> places;
  for (int i = 0; i < 64; ++i) {
    places.push_back(
        {0.3f + 0.07f * static_cast<float>(i), 0.2f + 0.041f * static_cast<float>(i), 0});
  }
  const TextureRun run = RunTexture(kRead2d, memory, Add(memory, texture), places);
  ASSERT_TRUE(run.outcome.clean()) << run.outcome.message;
  const auto plane = Plane();
  for (size_t i = 0; i < places.size(); ++i) {
    double fraction[2];
    int texel[2];
    for (int d = 0; d < 2; ++d) {
      const double place =
          std::round((static_cast<double>(places[i][static_cast<size_t>(d)]) - 0.5) * 256) / 256;
      texel[d] = static_cast<int>(std::floor(place));
      fraction[d] = place - texel[d];
    }
    const auto at = [&](int x, int y) {
      return static_cast<double>(plane[static_cast<size_t>(std::clamp(texel[1] + y, 0, 2) * 5 +
                                                           std::clamp(texel[0] + x, 0, 4))]);
    };
    const double corner = std::floor(fraction[0] * fraction[1] * 256 + 0.5) / 256;
    const double want = (1 - fraction[0] - fraction[1] + corner) * at(0, 0) +
                        (fraction[0] - corner) * at(1, 0) + (fraction[1] - corner) * at(0, 1) +
                        corner * at(1, 1);
    ASSERT_FLOAT_EQ(AsFloat(run.values[i][0]), static_cast<float>(want)) << i;
  }
}

TEST(Textures, FormatsAndNumbers) {
  DeviceMemory memory;
  const std::vector<std::array<float, 3>> places = {{0.5f, 0.5f, 0}, {1.5f, 0.5f, 0}};
  Texture texture;
  texture.dimensions = 2;
  texture.width = 2;
  texture.height = 1;
  texture.channels = 4;
  texture.format = TexelFormat::kU8;
  texture.address = Upload(memory, "bytes", std::vector<uint8_t>{0, 1, 128, 255, 10, 20, 30, 40});
  const std::string integers = "tex.2d.v4.u32.f32 {%r10, %r11, %r12, %r13}, [%rd9, {%f1, %f2}];";
  const TextureRun raw = RunTexture(integers, memory, Add(memory, texture), places);
  EXPECT_EQ(raw.values[0], (std::array<uint32_t, 4>{0, 1, 128, 255}));
  EXPECT_EQ(raw.values[1], (std::array<uint32_t, 4>{10, 20, 30, 40}));
  texture.read_as_float = true;
  const TextureRun numbers = RunTexture(kRead2d, memory, Add(memory, texture), places);
  EXPECT_EQ(AsFloat(numbers.values[0][3]), 1.0f);
  EXPECT_EQ(AsFloat(numbers.values[0][2]), 128.0f / 255);
  texture.format = TexelFormat::kS8;
  const TextureRun negative = RunTexture(kRead2d, memory, Add(memory, texture), places);
  EXPECT_EQ(AsFloat(negative.values[0][2]), -1.0f);  // -128 as well as -127
  texture.read_as_float = false;
  texture.format = TexelFormat::kF16;
  texture.channels = 2;
  texture.address = Upload(memory, "halves", std::vector<uint16_t>{0x3c00, 0xc000, 0x0001, 0x7bff});
  const TextureRun halves = RunTexture(kRead2d, memory, Add(memory, texture), places);
  EXPECT_EQ(AsFloat(halves.values[0][0]), 1.0f);
  EXPECT_EQ(AsFloat(halves.values[0][1]), -2.0f);
  EXPECT_EQ(AsFloat(halves.values[1][0]), 0x1p-24f);
  EXPECT_EQ(AsFloat(halves.values[1][1]), 65504.0f);
}

TEST(Textures, OneAndThreeDimensionsGatherAndPlainMemory) {
  DeviceMemory memory;
  std::vector<float> cube;
  for (int i = 0; i < 27; ++i) {
    cube.push_back(static_cast<float>(i));
  }
  Texture texture;
  texture.address = Upload(memory, "cube", cube);
  texture.dimensions = 3;
  texture.width = texture.height = texture.depth = 3;
  const TextureRun point =
      RunTexture("tex.3d.v4.f32.f32 {%r10, %r11, %r12, %r13}, [%rd9, {%f1, %f2, %f3, %f3}];",
                 memory, Add(memory, texture), {{1.5f, 2.5f, 0.5f}});
  EXPECT_EQ(AsFloat(point.values[0][0]), 7.0f);
  texture.linear_filter = true;
  const TextureRun middle =
      RunTexture("tex.3d.v4.f32.f32 {%r10, %r11, %r12, %r13}, [%rd9, {%f1, %f2, %f3, %f3}];",
                 memory, Add(memory, texture), {{1, 1, 1}});
  EXPECT_EQ(AsFloat(middle.values[0][0]), 6.5f);  // the mean of eight corners
  const TextureRun gathered =
      RunTexture("tld4.r.2d.v4.f32.f32 {%r10, %r11, %r12, %r13}, [%rd9, {%f1, %f2}];", memory,
                 Add(memory, PlaneTexture(memory)), {{2, 1, 0}});
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(AsFloat(gathered.values[0][i]), (std::array<float, 4>{11, 12, 2, 1})[i]);
  }
  Texture plain;
  plain.address = texture.address;
  plain.width = 27;
  plain.linear_memory = true;
  const TextureRun fetched =
      RunTexture("tex.1d.v4.f32.s32 {%r10, %r11, %r12, %r13}, [%rd9, {%r1}];", memory,
                 Add(memory, plain), {{26, 0, 0}, {27, 0, 0}, {-1, 0, 0}});
  EXPECT_EQ(AsFloat(fetched.values[0][0]), 26.0f);
  EXPECT_EQ(fetched.values[1][0], 0u);
  EXPECT_EQ(fetched.values[2][0], 0u);
}

TEST(Surfaces, LoadsStoresAndWhatIsOutside) {
  DeviceMemory memory;
  Texture surface = PlaneTexture(memory);
  surface.surface = true;
  const uint64_t handle = Add(memory, surface);
  const auto load = [&](const char* outside) {
    return RunTexture(
        fmt::format("shl.b32 %r5, %r1, 2;\nsuld.b.2d.b32.{} {{%r10}}, [%rd9, {{%r5, %r2}}];",
                    outside),
        memory, handle, {{3, 2, 0}, {5, 1, 0}, {2, -4, 0}});
  };
  const TextureRun zero = load("zero");
  EXPECT_EQ(AsFloat(zero.values[0][0]), 23.0f);
  EXPECT_EQ(zero.values[1][0], 0u);
  EXPECT_EQ(zero.values[2][0], 0u);
  const TextureRun clamp = load("clamp");
  EXPECT_EQ(AsFloat(clamp.values[1][0]), 14.0f);
  EXPECT_EQ(AsFloat(clamp.values[2][0]), 2.0f);
  const TextureRun trap = load("trap");
  ASSERT_EQ(trap.outcome.status, LaunchStatus::kFault);
  EXPECT_EQ(trap.outcome.findings[0].kind, "out of bounds");
  const TextureRun stored =
      RunTexture("shl.b32 %r5, %r1, 2;\nsust.b.2d.b32.trap [%rd9, {%r5, %r2}], {%r4};", memory,
                 handle, {{0, 1, 0}, {4, 2, 0}});
  ASSERT_TRUE(stored.outcome.clean()) << stored.outcome.message;
  EXPECT_EQ(Download<uint32_t>(memory, surface.address)[5], 0u);
  EXPECT_EQ(Download<uint32_t>(memory, surface.address)[14], 1u);
  const TextureRun odd =
      RunTexture("suld.b.2d.b32.trap {%r10}, [%rd9, {%r1, %r2}];", memory, handle, {{2, 0, 0}});
  ASSERT_EQ(odd.outcome.status, LaunchStatus::kFault);
  EXPECT_EQ(odd.outcome.findings[0].kind, "misaligned");
}

TEST(Textures, TakePartInTheRacesOfGlobalMemory) {
  DeviceMemory memory;
  Texture surface = PlaneTexture(memory);
  const uint64_t texture = Add(memory, surface);
  surface.surface = true;
  const uint64_t handle = Add(memory, surface);
  const std::string store = "shl.b32 %r5, %r1, 2; sust.b.2d.b32.trap [%rd9, {%r5, %r2}], {%r4};";
  // Two threads at one texel, and at two.
  const auto kinds = [](const TextureRun& run) {
    std::string text = run.outcome.message;
    for (const Finding& finding : run.outcome.findings) {
      text += finding.kind + " ";
    }
    return text;
  };
  EXPECT_EQ(kinds(RunTexture(store, memory, handle, {{1, 1, 0}, {1, 1, 0}})), "race ");
  EXPECT_EQ(kinds(RunTexture(store, memory, handle, {{1, 1, 0}, {2, 1, 0}})), "");
  // The second thread reads what the first one stores, unordered and behind a warp barrier.
  const std::string mine =
      "setp.eq.u32 %p1, %r4, 0; @%p1 sust.b.2d.b32.trap [%rd9, {4, 1}], {%r4};";
  const std::string read = "@!%p1 suld.b.2d.b32.trap {%r10}, [%rd9, {4, 1}];";
  const std::vector<std::array<float, 3>> two = {{1, 1, 0}, {1, 1, 0}};
  EXPECT_EQ(kinds(RunTexture(mine + read, memory, handle, two)), "race ");
  EXPECT_EQ(kinds(RunTexture(mine + "bar.warp.sync -1;" + read, memory, handle, two)), "");
  // A texture read beside a plain store to its memory.
  const std::string plain =
      fmt::format("mov.u64 %rd5, {}; setp.eq.u32 %p1, %r4, 0; @%p1 st.global.u32 [%rd5], %r4;",
                  surface.address + 4 * 6);
  const std::string fetch = std::string("@!%p1 ") + kRead2d;
  EXPECT_EQ(kinds(RunTexture(plain + fetch, memory, texture, two)), "race ");
  EXPECT_EQ(kinds(RunTexture(plain + "bar.warp.sync -1;" + fetch, memory, texture, two)), "");
}

TEST(Textures, MistakesAreFound) {
  DeviceMemory memory;
  Texture texture = PlaneTexture(memory);
  const uint64_t handle = Add(memory, texture);
  const TextureRun wrong = RunTexture(kRead2d, memory, 5, {{0, 0, 0}});
  ASSERT_EQ(wrong.outcome.status, LaunchStatus::kFault);
  EXPECT_NE(wrong.outcome.findings[0].detail.find("no texture object"), std::string::npos);
  const TextureRun line = RunTexture("tex.1d.v4.f32.f32 {%r10, %r11, %r12, %r13}, [%rd9, {%f1}];",
                                     memory, handle, {{0, 0, 0}});
  ASSERT_EQ(line.outcome.status, LaunchStatus::kFault);
  EXPECT_NE(line.outcome.findings[0].detail.find("2 dimensions is used as one of 1"),
            std::string::npos);
  memory.MarkUninitialised(texture.address);
  const TextureRun unwritten = RunTexture(kRead2d, memory, handle, {{0, 0, 0}});
  ASSERT_EQ(unwritten.outcome.findings.size(), 1u);
  EXPECT_EQ(unwritten.outcome.findings[0].kind, "uninitialised");
  texture.height = 4;
  EXPECT_FALSE(memory.AddTexture(texture).has_value());  // larger than its memory
  texture.height = 3;
  texture.channels = 3;
  EXPECT_FALSE(memory.AddTexture(texture).has_value());
  texture.channels = 1;
  texture.address_mode[0] = TextureAddressMode::kWrap;
  EXPECT_FALSE(memory.AddTexture(texture).has_value());  // needs normalised coordinates
}

}  // namespace
}  // namespace optiml::ptx

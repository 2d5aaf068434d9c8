#include "task/npy.h"

#include <gmock/gmock.h>

#include "base/file_system.h"

namespace optiml {
namespace {

using testing::HasSubstr;

class NpyTest : public testing::Test {
 protected:
  NpyTest() : folder_(*TemporaryDirectory::Create("optiml-npy-test-")) {}

  std::string LoadMessage(const std::string& bytes) {
    const auto file = folder_.path() / "a.npy";
    EXPECT_TRUE(WriteFileAtomically(file, bytes));
    const Result<Tensor> tensor = LoadNpy(file);
    return tensor ? "loaded" : tensor.error().message();
  }

  static std::string Npy(const std::string& dictionary, size_t data_bytes) {
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(dictionary.size());
    bytes += '\0';
    return bytes + dictionary + std::string(data_bytes, '\0');
  }

  TemporaryDirectory folder_;
};

TEST_F(NpyTest, EveryTypeSurvivesASaveAndALoad) {
  for (const DType dtype :
       {DType::kF16, DType::kF32, DType::kF64, DType::kI8, DType::kU8, DType::kI16, DType::kU16,
        DType::kI32, DType::kU32, DType::kI64, DType::kU64, DType::kBool}) {
    for (const auto& shape : std::vector<std::vector<int64_t>>{{}, {3}, {2, 0}, {2, 3, 4}}) {
      Tensor tensor = MakeTensor(dtype, shape);
      for (size_t i = 0; i < tensor.bytes.size(); ++i) {
        tensor.bytes[i] = static_cast<std::byte>(i & 1);
      }
      const auto file = folder_.path() / "t.npy";
      ASSERT_TRUE(SaveNpy(file, tensor));
      const Result<Tensor> loaded = LoadNpy(file);
      ASSERT_TRUE(loaded) << loaded.error().message();
      EXPECT_EQ(loaded->dtype, dtype);
      EXPECT_EQ(loaded->shape, shape);
      EXPECT_EQ(loaded->bytes, tensor.bytes);
    }
  }
}

TEST_F(NpyTest, MalformedFilesAreRefusedByName) {
  EXPECT_THAT(LoadMessage("hello"), HasSubstr("a.npy: not an .npy file"));
  EXPECT_THAT(LoadMessage(std::string("\x93NUMPY\x01\x00\xff\xff", 10)), HasSubstr("cut short"));
  EXPECT_THAT(LoadMessage(Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 8)),
              HasSubstr("8 bytes of data, but the shape says 12"));
  EXPECT_THAT(LoadMessage(Npy("{'descr': '<f4', 'fortran_order': True, 'shape': (3,), }", 12)),
              HasSubstr("Fortran order"));
  EXPECT_THAT(LoadMessage(Npy("{'descr': '<c8', 'fortran_order': False, 'shape': (3,), }", 24)),
              HasSubstr("element type '<c8' is not supported"));
  EXPECT_THAT(LoadMessage(Npy("{'descr': '<f4', 'fortran_order': False, 'shape': "
                              "(9223372036854775807, 9), }",
                              8)),
              HasSubstr("is no shape"));
  EXPECT_THAT(LoadMessage(Npy("{}", 0)), HasSubstr("no descr"));
}

TEST_F(NpyTest, RecordedTensorsMustBeWhatTheTaskSays) {
  ArgSpec arg;
  arg.name = "y";
  arg.is_buffer = true;
  arg.dtype = DType::kF32;
  arg.role = ArgRole::kOut;
  arg.line = 7;
  Tensor tensor = MakeTensor(DType::kF32, {2, 3});
  EXPECT_TRUE(CheckRecorded(tensor, arg, {2, 3}, "y.npy"));
  EXPECT_THAT(
      CheckRecorded(tensor, arg, {3, 2}, "y.npy").error().message(),
      HasSubstr("y.npy: y has shape [2, 3] in the file, but [3, 2] in the task (task.toml:7)"));
  Tensor wide = MakeTensor(DType::kF64, {2, 3});
  EXPECT_TRUE(CheckRecorded(wide, arg, {2, 3}, "y.npy"));
  arg.role = ArgRole::kIn;
  EXPECT_THAT(CheckRecorded(wide, arg, {2, 3}, "y.npy").error().message(),
              HasSubstr("is f64 in the file, but f32 in the task"));
  arg.dtype = DType::kBf16;
  Tensor words = MakeTensor(DType::kU16, {2, 3});
  EXPECT_TRUE(CheckRecorded(words, arg, {2, 3}, "y.npy"));
  EXPECT_EQ(words.dtype, DType::kBf16);
}

}  // namespace
}  // namespace optiml

// Every operator's task: its files are complete, its checks reject wrong kernels, and its own naive
// kernel passes them on the emulator. The first member of each operator here; every member in every
// dtype where OPTIML_ALL_OPERATORS is set (ctest generate.all_operators, label slow).
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "base/file_system.h"
#include "build/builder.h"
#include "device/emulator_device.h"
#include "generate/template.h"
#include "task/reference.h"
#include "task/task.h"
#include "verify/verifier.h"

namespace optiml {
namespace {

// All combinations of the choices' values; only the first of each with `is_quick`.
std::vector<OperatorRequest> Members(const Contract& contract, bool is_quick) {
  std::vector<OperatorRequest> members(1);
  members[0].contract = &contract;
  for (const Choice& choice : contract.choices) {
    std::vector<OperatorRequest> more;
    for (const OperatorRequest& member : members) {
      for (const ChoiceValue& value : choice.values) {
        more.push_back(member);
        more.back().choices[choice.name] = value.name;
        if (is_quick) {
          break;
        }
      }
    }
    members = std::move(more);
  }
  std::vector<OperatorRequest> typed;
  for (const OperatorRequest& member : members) {
    for (const DType dtype : contract.dtypes) {
      typed.push_back(member);
      typed.back().dtype = dtype;
      if (is_quick) {
        break;
      }
    }
  }
  return typed;
}

// Empty when everything is right; else what is wrong.
std::string Fault(const OperatorRequest& request, const fs::path& folder, Builder& builder) {
  const auto task = MakeTask(request, {"made for a test", "operator library"});
  if (!task) {
    return task.error().message();
  }
  for (const auto& [name, text] : task->files) {
    const auto written = WriteFileAtomically(folder / name, text);
    if (!written) {
      return written.error().message();
    }
  }
  const auto loaded = LoadTask(folder);
  if (!loaded) {
    return loaded.error().message();
  }
  ReferenceOptions options;
  options.cache_directory = folder.parent_path() / "cache";
  auto reference = MakeHostReference(*loaded, options);
  if (!reference) {
    return reference.error().message();
  }
  const auto device = MakeEmulatorDevice({});
  if (!device) {
    return device.error().message();
  }
  VerifierOptions checks;
  const auto verifier = MakeVerifier(*loaded, builder, **device, reference->get(), checks);
  if (!verifier) {
    return verifier.error().message();
  }
  const auto battery = (*verifier)->Battery();
  if (!battery) {
    return "battery: " + battery.error().message();
  }
  Evaluation evaluation;
  const auto prepared = (*verifier)->Prepare(loaded->source, evaluation);
  if (!prepared) {
    return prepared.error().message();
  }
  if (const auto* rejection = std::get_if<Rejection>(&*prepared)) {
    return rejection->reason;
  }
  const auto verified = (*verifier)->Verify(std::get<PreparedCandidate>(*prepared), evaluation);
  if (!verified) {
    return verified.error().message();
  }
  const auto* rejection = std::get_if<Rejection>(&evaluation.outcome);
  return rejection == nullptr ? "" : "its own kernel: " + rejection->reason;
}

TEST(Operators, TasksTellRightFromWrongAndTheirKernelsAreRight) {
  const auto library = ContractLibrary::Load();
  ASSERT_TRUE(library) << library.error().message();
  const bool is_quick = std::getenv("OPTIML_ALL_OPERATORS") == nullptr;
  const char* only = std::getenv("OPTIML_ONLY_OPERATOR");
  std::vector<OperatorRequest> members;
  for (const Contract& contract : library->contracts()) {
    for (OperatorRequest& member : Members(contract, is_quick)) {
      if (only == nullptr || contract.name == only) {
        members.push_back(std::move(member));
      }
    }
  }
  const auto root = TemporaryDirectory::Create("optiml-operators-");
  ASSERT_TRUE(root) << root.error().message();
  const auto builder = MakeNvrtcBuilder({});
  if (!builder->Toolchain()) {
    GTEST_SKIP() << "no NVRTC";
  }
  std::mutex mutex;
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < members.size(); i = next++) {
      const fs::path folder = root->path() / std::to_string(i);
      ASSERT_TRUE(CreateDirectories(folder));
      const std::string fault = Fault(members[i], folder, *builder);
      const std::lock_guard<std::mutex> lock(mutex);
      EXPECT_EQ(fault, "") << FormatOperator(members[i]);
    }
  };
  std::thread other(work);
  work();
  other.join();
  std::cout << members.size() << " members\n";
}

}  // namespace
}  // namespace optiml

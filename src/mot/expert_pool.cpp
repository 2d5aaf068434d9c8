#include "mot/expert_pool.h"

#include <fmt/format.h>

#include "mot/self_check.h"

namespace optiml::mot {

ExpertPool::ExpertPool(Bundle bundle)
    : bundle_(std::move(bundle)), bundle_hash_(HashOfBundle(bundle_)) {}

Result<std::unique_ptr<ExpertPool>> ExpertPool::Open(Bundle bundle, const ExpertFiles& files,
                                                     const PoolOptions& options) {
  for (const auto& [name, file] : files) {
    OPTIML_TRY(bundle.FindExpert(name));
  }
  std::unique_ptr<ExpertPool> pool(new ExpertPool(std::move(bundle)));
  for (const BundleExpert& expert : pool->bundle_.experts) {
    const auto file = files.find(expert.name);
    if (file == files.end()) {
      return Error(ErrorCode::kNotFound,
                   fmt::format("expert {} is missing: no file is named for it", expert.name));
    }
    OPTIML_TRY(pool->AddMember(expert, file->second, options));
  }
  return pool;
}

Result<void> ExpertPool::AddMember(const BundleExpert& expert, const std::filesystem::path& file,
                                   const PoolOptions& options) {
  auto opened = Expert::Open(file, options.expert);
  if (!opened) {
    return std::move(opened).error().WithContext("expert " + expert.name);
  }
  Member member;
  member.expert = *std::move(opened);
  OPTIML_TRY(MatchExpert(expert, member.expert->facts(), options.other_weights));
  OPTIML_ASSIGN(const std::vector<ggml_backend_dev_t> devices,
                SelfCheck(*member.expert, expert.boundaries));
  for (const ggml_backend_dev_t device : devices) {
    OPTIML_ASSIGN(member.backends.emplace_back(), BackendFor(device, member.expert->threads()));
  }
  members_.push_back(std::move(member));
  return {};
}

Result<std::shared_ptr<DeviceBackend>> ExpertPool::BackendFor(ggml_backend_dev_t device,
                                                              int threads) {
  std::shared_ptr<DeviceBackend>& backend = backends_[device];
  if (backend == nullptr) {
    OPTIML_ASSIGN(backend, DeviceBackend::For(device, threads));
  }
  return backend;
}

std::string ExpertPool::DeviceName(size_t expert, size_t boundary) const {
  return members_[expert].backends[boundary]->name();
}

Result<PeerProjection*> ExpertPool::Projection(size_t expert, size_t boundary) {
  auto& made = projections_[{expert, boundary}];
  if (made == nullptr) {
    OPTIML_ASSIGN(
        made, PeerProjection::Make(bundle_, boundary, expert, members_[expert].backends[boundary]));
  }
  return made.get();
}

Result<InteractionLayer*> ExpertPool::Layer(size_t primary, size_t boundary) {
  auto& made = layers_[{primary, boundary}];
  if (made == nullptr) {
    OPTIML_ASSIGN(made, InteractionLayer::Make(bundle_, boundary, primary,
                                               members_[primary].backends[boundary]));
  }
  return made.get();
}

}  // namespace optiml::mot

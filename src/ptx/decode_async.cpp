// Copies, mbarriers, clusters, and what belongs to them.

#include <fmt/format.h>

#include <algorithm>

#include "ptx/async_ops.h"
#include "ptx/decoder.h"

namespace optiml::ptx {
namespace {

// Limits of setmaxnreg (PTX ISA).
constexpr uint64_t kLeastRegisters = 24;
constexpr uint64_t kMostRegisters = 256;
constexpr uint64_t kRegisterStep = 8;

constexpr std::pair<std::string_view, AtomicOp> kReductions[] = {
    {"add", AtomicOp::kAdd}, {"min", AtomicOp::kMin}, {"max", AtomicOp::kMax},
    {"and", AtomicOp::kAnd}, {"or", AtomicOp::kOr},   {"xor", AtomicOp::kXor},
    {"inc", AtomicOp::kInc}, {"dec", AtomicOp::kDec}};

bool IsSharedWord(std::string_view word) {
  return word == "shared" || word == "shared::cta" || word == "shared::cluster";
}

const AtomicOp* ReductionOf(const Opcode& opcode) {
  for (const auto& [name, op] : kReductions) {
    if (opcode.Has(name)) {
      return &op;
    }
  }
  return nullptr;
}

}  // namespace

bool UsesAsync(const Instruction& instruction) {
  const std::string& opcode = instruction.opcode;
  const std::string_view base = BaseOpcode(opcode);
  return base == "cp" || base == "mbarrier" || base == "wgmma" || base == "mapa" ||
         base == "getctarank" || opcode.find("cluster") != std::string::npos ||
         opcode.find(".async") != std::string::npos;
}

Place Decoder::AddressPlace(const Operand& operand, Space space) {
  Operand first = operand;
  first.elements.resize(std::min<size_t>(first.elements.size(), 1));
  Address address;
  if (!DecodeAddress(first, space, address) || address.frame_relative) {
    throw CannotDecode{"this form of address"};
  }
  Place place = address.wide ? address.place : Widened(address.place);
  if (address.offset != 0) {
    const Place sum = Slot(8);
    Op& op = Emit(&ToSpace);
    op.a = place;
    op.d = sum;
    op.offset = address.offset;
    place = sum;
  }
  return place;
}

bool Decoder::DecodeAsync(const Instruction& instruction, const Opcode& opcode) {
  const std::string_view base = opcode.base;
  if (base == "cp") {
    return opcode.Has("bulk") ? DecodeBulk(instruction, opcode) : DecodeCopy(instruction, opcode);
  }
  if (base == "mbarrier") {
    return DecodeMbarrier(instruction, opcode);
  }
  if ((base == "st" || base == "red") && opcode.Has("async")) {
    return DecodeStoreAsync(instruction, opcode);
  }
  return DecodeCluster(instruction, opcode) || DecodeHints(instruction, opcode);
}

// cp.async and what waits for it.
bool Decoder::DecodeCopy(const Instruction& instruction, const Opcode& opcode) {
  const auto& operands = instruction.operands;
  if (opcode.Has("commit_group")) {
    Emit(&CopyCommit);
    return true;
  }
  if (opcode.Has("wait_all")) {
    Emit(&CopyWait).aux2 = 1;
    return true;
  }
  if (opcode.Has("wait_group")) {
    if (operands.at(0).kind != OperandKind::kImmediate) {
      return false;
    }
    Emit(&CopyWait).aux = static_cast<uint32_t>(operands[0].bits);
    return true;
  }
  if (opcode.Has("mbarrier")) {
    const Place a = AddressPlace(operands.at(0), SpaceOf(opcode));
    Op& op = Emit(&CopyArrive);
    op.a = a;
    op.aux = opcode.Has("noinc") ? 1 : 0;
    return true;
  }
  size_t count = operands.size();
  count -= opcode.Has("L2::cache_hint") ? 1 : 0;  // the policy comes last
  if (count < 3 || count > 4 || operands[2].kind != OperandKind::kImmediate) {
    return false;
  }
  const uint64_t bytes = operands[2].bits;
  if (bytes != 16 && (opcode.Has("cg") || (bytes != 4 && bytes != 8))) {
    throw CannotDecode{fmt::format("copies of {} bytes", bytes)};
  }
  const Place a = AddressPlace(operands[0], Space::kShared);
  const Place b = AddressPlace(operands[1], Space::kGlobal);
  Place c = 0;
  Place e = 0;
  bool negated = false;
  if (count == 4) {
    const bool predicate =
        operands[3].kind == OperandKind::kRegister &&
        function_.registers[static_cast<size_t>(operands[3].index)].type == Type::kPred;
    if (predicate) {
      e = PredicateSource(operands[3], negated);
    } else {
      c = Source(operands[3], Type::kU32, 4);
    }
  }
  Op& op = Emit(&CopyAsync);
  op.a = a;
  op.b = b;
  op.c = c;
  op.e = e;
  op.aux = static_cast<uint32_t>(bytes) | (opcode.Has("cg") ? kBypassL1 : 0) |
           (negated ? kIgnoreNegated : 0);
  op.site = program_.memory_sites;
  program_.memory_sites += 2;
  return true;
}

bool Decoder::DecodeBulk(const Instruction& instruction, const Opcode& opcode) {
  const auto& operands = instruction.operands;
  if (opcode.Has("commit_group")) {
    Emit(&BulkCommit);
    return true;
  }
  if (opcode.Has("wait_group")) {
    if (operands.at(0).kind != OperandKind::kImmediate) {
      return false;
    }
    Op& op = Emit(&BulkWait);
    op.aux = static_cast<uint32_t>(operands[0].bits);
    op.aux2 = opcode.Has("read") ? 1 : 0;
    return true;
  }
  if (opcode.Has("prefetch")) {
    Emit(&Nothing);
    return true;
  }
  for (const std::string_view word : opcode.others) {
    if (word.starts_with("im2col") || word.starts_with("tile::") || word == "cp_mask" ||
        word.starts_with("cta_group")) {
      throw CannotDecode{fmt::format("mode .{}", word)};
    }
  }
  BulkSite site;
  std::vector<bool> shared;  // destination, source
  for (const std::string_view word : opcode.others) {
    if (IsSharedWord(word) || word == "global") {
      shared.push_back(word != "global");
    } else if (word.size() == 2 && word[1] == 'd' && word[0] >= '1' && word[0] <= '5') {
      site.rank = static_cast<uint32_t>(word[0] - '0');
    }
  }
  if (shared.size() != 2 || (opcode.Has("tensor") && site.rank == 0)) {
    return false;
  }
  site.kind = !shared[0]  ? BulkKind::kStore
              : shared[1] ? BulkKind::kBetweenBlocks
                          : BulkKind::kLoad;
  if (opcode.Has("reduce")) {
    const AtomicOp* reduction = ReductionOf(opcode);
    if (reduction == nullptr) {
      return false;
    }
    // A tensor map brings its own type; until then any of the operation's functions stands for it.
    const Type type = site.rank > 0 ? Type::kU32 : opcode.type();
    site.combine = *reduction;
    site.function = SelectCombine(*reduction, type);
    site.element_bytes = TypeBytes(type);
    if (site.function == nullptr) {
      throw CannotDecode{fmt::format("a reduction of type {}", TypeName(type))};
    }
  }
  const bool store = site.kind == BulkKind::kStore;
  const Operand& far = operands.at(store ? 0 : 1);
  const Space far_space = site.kind == BulkKind::kBetweenBlocks ? Space::kShared
                          : site.rank > 0                       ? Space::kNone
                                                                : Space::kGlobal;
  const Place far_place = AddressPlace(far, far_space);
  const Place near_place = AddressPlace(operands.at(store ? 1 : 0), Space::kShared);
  if (site.rank > 0) {
    if (far.elements.size() != 2 || far.elements[1].elements.size() != site.rank) {
      throw CannotDecode{fmt::format("other than {} coordinates", site.rank)};
    }
    for (size_t i = 0; i < site.rank; ++i) {
      site.coordinates[i] = Source(far.elements[1].elements[i], Type::kS32, 4);
    }
  }
  size_t next = 2;
  const Place size = site.rank > 0 ? 0 : Source(operands.at(next++), Type::kU32, 4);
  const Place barrier = store ? 0 : AddressPlace(operands.at(next++), Space::kShared);
  const Place mask =
      opcode.Has("multicast::cluster") ? Source(operands.at(next++), Type::kU16, 2) : 0;
  Op& op = Emit(&BulkIssue);
  op.a = store ? far_place : near_place;
  op.b = store ? near_place : far_place;
  op.c = size;
  op.d = barrier;
  op.e = mask;
  op.site = static_cast<uint32_t>(program_.bulk_sites.size());
  program_.bulk_sites.push_back(site);
  return true;
}

bool Decoder::DecodeStoreAsync(const Instruction& instruction, const Opcode& opcode) {
  const auto& operands = instruction.operands;
  BulkSite site;
  site.kind = BulkKind::kValue;
  site.element_bytes = TypeBytes(opcode.type());
  site.elements = opcode.Has("v4") ? 4 : opcode.Has("v2") ? 2 : 1;
  if (site.element_bytes != 4 && site.element_bytes != 8) {
    return false;
  }
  if (opcode.base == "red") {
    const AtomicOp* reduction = ReductionOf(opcode);
    site.function = reduction != nullptr ? SelectCombine(*reduction, opcode.type()) : nullptr;
    if (site.function == nullptr) {
      return false;
    }
  }
  const Operand& value = operands.at(1);
  if (site.elements > 1 && value.elements.size() != site.elements) {
    return false;
  }
  const Place address = AddressPlace(operands.at(0), Space::kShared);
  const Place barrier = AddressPlace(operands.at(2), Space::kShared);
  Place values[4] = {};
  for (uint32_t i = 0; i < site.elements; ++i) {
    values[i] =
        Source(site.elements > 1 ? value.elements[i] : value, opcode.type(), site.element_bytes);
  }
  Op& op = Emit(&StoreAsync);
  op.a = address;
  op.d = barrier;
  op.b = values[0];
  op.c = values[1];
  op.e = values[2];
  op.d2 = values[3];
  op.site = static_cast<uint32_t>(program_.bulk_sites.size());
  program_.bulk_sites.push_back(site);
  return true;
}

bool Decoder::DecodeMbarrier(const Instruction& instruction, const Opcode& opcode) {
  const auto& operands = instruction.operands;
  const Space space = SpaceOf(opcode);
  const uint32_t predicated = instruction.predicate >= 0 ? kPredicated : 0;
  if (opcode.Has("init") || opcode.Has("inval")) {
    const Place a = AddressPlace(operands.at(0), space);
    const Place b = opcode.Has("init") ? Source(operands.at(1), Type::kU32, 4) : 0;
    Op& op = Emit(opcode.Has("init") ? &MbarrierInit : &MbarrierInvalidate);
    op.a = a;
    op.b = b;
    return true;
  }
  if (opcode.Has("arrive") || opcode.Has("arrive_drop")) {
    const bool expects = opcode.Has("expect_tx");
    const Place a = AddressPlace(operands.at(1), space);
    const Place third = operands.size() > 2 ? Source(operands[2], Type::kU32, 4) : 0;
    const Place d = operands[0].kind == OperandKind::kSink ? 0 : Destination(operands[0], 8, false);
    Op& op = Emit(&MbarrierArrive);
    op.a = a;
    op.b = expects ? 0 : third;
    op.c = expects ? third : 0;
    op.d = d;
    op.aux = (opcode.Has("arrive_drop") ? kArriveDrop : 0) |
             (opcode.Has("noComplete") ? kArriveNoComplete : 0);
    return !expects || third != 0;
  }
  if (opcode.Has("expect_tx") || opcode.Has("complete_tx")) {
    const Place a = AddressPlace(operands.at(0), space);
    const Place b = Source(operands.at(1), Type::kU32, 4);
    Op& op = Emit(&MbarrierBytes);
    op.a = a;
    op.b = b;
    op.aux = opcode.Has("complete_tx") ? 1 : 0;
    return true;
  }
  if (opcode.Has("test_wait") || opcode.Has("try_wait")) {
    const bool parity = opcode.Has("parity");
    const Place a = AddressPlace(operands.at(1), space);
    const Place b =
        parity ? Source(operands.at(2), Type::kU32, 4) : Source(operands.at(2), Type::kB64, 8);
    const Place d = PredicateDestination(operands[0]);
    Op& op = Emit(&MbarrierWait);
    op.a = a;
    op.b = b;
    op.d = d;
    op.aux = (parity ? kWaitParity : 0) | (opcode.Has("try_wait") ? kWaitMayBlock : 0) | predicated;
    return true;
  }
  if (opcode.Has("pending_count")) {
    const Place a = Source(operands.at(1), Type::kB64, 8);
    const Place d = Destination(operands.at(0), 4, false);
    Op& op = Emit(&MbarrierPendingCount);
    op.a = a;
    op.d = d;
    return true;
  }
  return false;
}

bool Decoder::DecodeCluster(const Instruction& instruction, const Opcode& opcode) {
  const auto& operands = instruction.operands;
  const std::string_view base = opcode.base;
  const uint32_t predicated = instruction.predicate >= 0 ? kPredicated : 0;
  if (base == "barrier" && opcode.Has("cluster")) {
    const bool arrive = opcode.Has("arrive");
    if (!arrive && !opcode.Has("wait")) {
      return false;
    }
    Op& op = Emit(arrive ? &ClusterArrive : &ClusterWait);
    op.aux = (opcode.Has("aligned") ? 1u : 0u) | (arrive ? 0 : predicated);
    return true;
  }
  if (base == "mapa" || base == "getctarank") {
    // The address is a register, a variable, or a variable plus a number.
    const uint32_t bytes = TypeBytes(opcode.type());
    const Operand& address = operands.at(1);
    Place a = 0;
    if (address.kind == OperandKind::kRegister && RegisterBytes(address) == 8) {
      a = Source(address, Type::kU64, 8);
    } else {
      Operand wrapped;
      wrapped.kind = OperandKind::kAddress;
      wrapped.offset = address.offset;
      wrapped.elements.push_back(address);
      wrapped.elements[0].offset = 0;
      a = AddressPlace(wrapped, Space::kShared);
    }
    const bool maps = base == "mapa";
    const Place b = maps ? Source(operands.at(2), Type::kU32, 4) : 0;
    const Place d = Destination(operands.at(0), maps ? bytes : 4, false);
    Op& op = Emit(maps ? &MapBlock : &BlockOfAddress);
    op.a = a;
    op.b = b;
    op.d = d;
    op.aux = bytes;
    return !maps || bytes == 4 || bytes == 8;
  }
  if (base == "fence" && (opcode.Has("proxy") || opcode.Has("mbarrier_init"))) {
    Emit(opcode.Has("async") ? &FenceProxyAsync : &Fence);
    return true;
  }
  for (const std::string_view word : opcode.others) {
    if (base == "fence" && word.starts_with("proxy")) {  // proxy::async::generic and the like
      Emit(&FenceProxyAsync);
      return true;
    }
  }
  return false;
}

bool Decoder::DecodeHints(const Instruction& instruction, const Opcode& opcode) {
  const auto& operands = instruction.operands;
  const std::string_view base = opcode.base;
  if (base == "elect") {
    const Operand& result = operands.at(0);
    const bool pair = result.kind == OperandKind::kPair;
    const Place a = Source(operands.at(1), Type::kB32, 4);
    const Place d = Destination(pair ? result.elements[0] : result, 4, false);
    const Place d2 = pair ? PredicateDestination(result.elements[1]) : 0;
    Op& op = Emit(&Elect);
    op.a = a;
    op.d = d;
    op.d2 = d2;
    return true;
  }
  if (base == "setmaxnreg") {
    const Operand& count = operands.at(0);
    if (count.kind != OperandKind::kImmediate || count.bits < kLeastRegisters ||
        count.bits > kMostRegisters || count.bits % kRegisterStep != 0) {
      throw CannotDecode{fmt::format("{} registers; {} to {} in steps of {} are possible",
                                     count.bits, kLeastRegisters, kMostRegisters, kRegisterStep)};
    }
    Emit(&SetMaxRegisters);
    return true;
  }
  if (base == "griddepcontrol" || (base == "prefetch" && opcode.Has("tensormap"))) {
    Emit(&Nothing);
    return true;
  }
  if (base == "createpolicy") {
    // Cache policies change no result; any number will do.
    AluRequest request;
    request.op = AluOp::kMov;
    request.type = Type::kB64;
    const Place d = Destination(operands.at(0), 8, false);
    const Place a = b_.Constant(0, 8);
    Op& op = Emit(b_.handlers->alu(request), request);
    op.a = a;
    op.d = d;
    return true;
  }
  if (base == "alloca" || base == "stacksave" || base == "stackrestore") {
    if (TypeBytes(opcode.type()) != 8) {
      return false;
    }
    const bool restores = base == "stackrestore";
    const bool allocates = base == "alloca";
    const Place a = restores    ? Source(operands.at(0), Type::kU64, 8)
                    : allocates ? Source(operands.at(1), Type::kU64, 8)
                                : 0;
    const Place d = restores ? 0 : Destination(operands.at(0), 8, false);
    Op& op = Emit(restores ? &RestoreStack : allocates ? &AllocateStack : &SaveStack);
    op.a = a;
    op.d = d;
    op.aux = allocates && operands.size() > 2 ? static_cast<uint32_t>(operands[2].bits) : 0;
    return true;
  }
  return false;
}

}  // namespace optiml::ptx

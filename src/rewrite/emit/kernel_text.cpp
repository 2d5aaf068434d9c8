#include "rewrite/emit/kernel_text.h"

#include <fmt/format.h>

#include <cctype>

#include "rewrite/emit/launch_sites.h"
#include "rewrite/schedule/analysis.h"

namespace optiml::rewrite {
namespace {

// Identifiers of the file: a new name must be none of them.
void CollectIdentifiers(const std::string& text, std::set<std::string>* out) {
  size_t at = 0;
  while (at < text.size()) {
    const auto is_start = [](char c) {
      return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    if (!is_start(text[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() &&
           (is_start(text[end]) || std::isdigit(static_cast<unsigned char>(text[end])) != 0)) {
      ++end;
    }
    out->insert(text.substr(at, end - at));
    at = end;
  }
}

std::string PointerType(const Parameter& parameter) {
  return fmt::format("{}{}*", parameter.is_const ? "const " : "", TypeName(parameter.type));
}

std::string ParameterList(const KernelFacts& facts, bool in_kernel) {
  std::string text;
  for (const Parameter& parameter : facts.program.parameters) {
    text += text.empty() ? "" : ", ";
    if (!parameter.is_buffer) {
      text += fmt::format("{} {}", TypeName(parameter.type), parameter.name);
      continue;
    }
    const bool is_restrict =
        in_kernel && (parameter.is_restrict || facts.DistinctFromAll(parameter.name));
    text += fmt::format("{}{} {}", PointerType(parameter), is_restrict ? " __restrict__" : "",
                        parameter.name);
  }
  return text;
}

const char* AtomicName(FoldOp op) {
  switch (op) {
    case FoldOp::kMax:
      return "atomicMax";
    case FoldOp::kMin:
      return "atomicMin";
    case FoldOp::kAnd:
      return "atomicAnd";
    case FoldOp::kOr:
      return "atomicOr";
    case FoldOp::kXor:
      return "atomicXor";
    case FoldOp::kSum:
    case FoldOp::kProduct:
      break;
  }
  return "atomicAdd";
}

bool IsIdempotent(FoldOp op) {
  return op == FoldOp::kMax || op == FoldOp::kMin || op == FoldOp::kAnd || op == FoldOp::kOr;
}

bool IsIdentity(const Accumulator& accumulator) {
  return (accumulator.op == FoldOp::kSum && IsConstantZero(accumulator.init)) ||
         (accumulator.op == FoldOp::kXor && IsConstantZero(accumulator.init)) ||
         (accumulator.op == FoldOp::kProduct && IsConstantOne(accumulator.init));
}

}  // namespace

Names::Names(const KernelFacts& facts) {
  CollectIdentifiers(facts.unit->text, &taken_);
  for (const std::string& name : facts.program.reserved_names) {
    taken_.insert(name);
  }
  for (const Parameter& parameter : facts.program.parameters) {
    taken_.insert(parameter.name);
  }
  for (const Dim& dim : facts.program.dims) {
    taken_.insert(dim.name);
  }
  for (const Stage& stage : facts.program.stages) {
    for (const Dim& dim : stage.dims) {
      taken_.insert(dim.name);
    }
    for (const Let& let : stage.lets) {
      taken_.insert(let.name);
    }
    for (const Accumulator& accumulator : stage.accumulators) {
      taken_.insert(accumulator.name);
    }
  }
}

std::string Names::Take(const std::string& wish) {
  std::string name = wish;
  for (int i = 2; taken_.count(name) != 0; ++i) {
    name = wish + std::to_string(i);
  }
  taken_.insert(name);
  return name;
}

std::string TypeName(Scalar type) {
  return type == Scalar::kU64 ? "unsigned long long" : ScalarCudaName(type);
}

std::string KernelParameters(const KernelFacts& facts) {
  return ParameterList(facts, true);
}

std::string HostParameters(const KernelFacts& facts) {
  return ParameterList(facts, false) + (PassesStream(facts) ? ", cudaStream_t stream" : "");
}

std::string ArgumentNames(const KernelFacts& facts) {
  std::string text;
  for (const Parameter& parameter : facts.program.parameters) {
    text += (text.empty() ? "" : ", ") + parameter.name;
  }
  return text;
}

std::string LaunchHelperName(const KernelFacts& facts) {
  return Names(facts).Take("launch_" + facts.function->name);
}

bool PassesStream(const KernelFacts& facts) {
  for (const LaunchSite& site : LaunchSitesOf(*facts.unit, *facts.function)) {
    if (!site.stream.empty()) {
      return true;
    }
  }
  return false;
}

std::string LaunchText(const KernelFacts& facts, const std::string& kernel, const std::string& grid,
                       const std::string& block) {
  return fmt::format("{}<<<{}, {}{}>>>({});", kernel, grid, block,
                     PassesStream(facts) ? ", 0, stream" : "", ArgumentNames(facts));
}

void OpenLauncher(const KernelFacts& facts, const std::string& comment,
                  const std::vector<Dim>& dims, CodeWriter* out) {
  out->Comment(comment);
  out->Open(fmt::format("static void {}({})", LaunchHelperName(facts), HostParameters(facts)));
  std::string empty;
  std::set<std::string> checked;
  for (const Dim& dim : dims) {
    if (dim.extent->kind != ExprKind::kInt && checked.insert(Print(dim.extent)).second) {
      empty += fmt::format("{}{} <= 0", empty.empty() ? "" : " || ", Operand(dim.extent));
    }
  }
  if (!empty.empty()) {
    out->Open(fmt::format("if ({})", empty));
    out->Line("return;");
    out->Close();
  }
}

std::string CeilDiv(const ExprPtr& extent, int64_t points) {
  if (points == 1) {
    return Operand(extent);
  }
  if (extent->kind == ExprKind::kInt) {
    return std::to_string((extent->int_value + points - 1) / points);
  }
  return fmt::format("({} + {}) / {}", Operand(extent), points - 1, points);
}

std::string Operand(const ExprPtr& expr) {
  const std::string text = Print(expr);
  switch (expr->kind) {
    case ExprKind::kInt:
    case ExprKind::kSymbol:
    case ExprKind::kCall:
    case ExprKind::kLoad:
      return text;
    default:
      return fmt::format("({})", text);
  }
}

std::string PointerText(const std::string& buffer, const ExprPtr& index) {
  const bool plain = index->kind == ExprKind::kInt || index->kind == ExprKind::kSymbol ||
                     index->kind == ExprKind::kCast ||
                     (index->kind == ExprKind::kBinary &&
                      (index->op == "+" || index->op == "-" || index->op == "*"));
  const std::string text = Print(index);
  return plain ? fmt::format("{} + {}", buffer, text) : fmt::format("{} + ({})", buffer, text);
}

std::string FoldStatement(const Accumulator& accumulator, const ExprPtr& update) {
  const ExprPtr current = Symbol(accumulator.name, accumulator.type);
  const ExprPtr next = Combine(accumulator, current, update);
  if (next->kind == ExprKind::kBinary && next->op.size() == 1 && next->operands[0] == current) {
    return fmt::format("{} {}= {};", accumulator.name, next->op, Print(next->operands[1]));
  }
  return fmt::format("{} = {};", accumulator.name, Print(next));
}

std::string StoreStatement(const Store& store) {
  const std::string element = fmt::format("{}[{}]", store.buffer, Print(store.index));
  if (store.kind == StoreKind::kAtomic) {
    return fmt::format("{}(&{}, {});", AtomicName(store.atomic_op), element, Print(store.value));
  }
  return fmt::format("{} = {};", element, Print(store.value));
}

ExprPtr ParallelStart(const Accumulator& accumulator) {
  if (IsIdempotent(accumulator.op) || IsIdentity(accumulator)) {
    return accumulator.init;
  }
  return Identity(accumulator.op, accumulator.type);
}

bool NeedsInitAfter(const Accumulator& accumulator) {
  return !IsIdempotent(accumulator.op) && !IsIdentity(accumulator);
}

void PrintBlockFold(const std::string& name, const std::vector<Accumulator>& accumulators,
                    int64_t threads, CodeWriter* out) {
  const bool single = accumulators.size() == 1;
  const int64_t warps = threads / 32;
  out->Comment(
      fmt::format("Combines the values of {} threads; each of them gets the result.", threads));
  std::string parameters;
  for (const Accumulator& accumulator : accumulators) {
    parameters +=
        fmt::format("{}{}{} {}", parameters.empty() ? "" : ", ", TypeName(accumulator.type),
                    single ? "" : "&", single ? "value" : accumulator.name);
  }
  out->Open(fmt::format("__device__ __forceinline__ {} {}({})",
                        single ? TypeName(accumulators[0].type) : "void", name, parameters));
  const auto value_of = [&](const Accumulator& accumulator) {
    return single ? std::string("value") : accumulator.name;
  };
  const auto shuffle = [&](int64_t from) {
    out->Pragma("#pragma unroll");
    out->Open(fmt::format("for (int offset = {}; offset > 0; offset /= 2)", from));
    for (const Accumulator& accumulator : accumulators) {
      const std::string value = value_of(accumulator);
      Accumulator renamed = accumulator;
      renamed.name = value;
      const std::string other = fmt::format("__shfl_xor_sync(0xffffffffu, {}, offset)", value);
      const ExprPtr combined =
          Combine(renamed, Symbol(value, renamed.type), Symbol("other", renamed.type));
      if (combined->kind == ExprKind::kSelect) {
        out->Line(fmt::format("const {} other = {};", TypeName(renamed.type), other));
        out->Line(fmt::format("{} = {};", value, Print(combined)));
      } else {
        out->Line(FoldStatement(renamed, Symbol(other, renamed.type)));
      }
    }
    out->Close();
  };
  if (warps <= 1) {
    shuffle(threads / 2);
  } else {
    for (const Accumulator& accumulator : accumulators) {
      out->Line(fmt::format("__shared__ {} {}_of_warp[{}];", TypeName(accumulator.type),
                            value_of(accumulator), warps));
    }
    shuffle(16);
    out->Open("if (threadIdx.x % 32 == 0)");
    for (const Accumulator& accumulator : accumulators) {
      out->Line(fmt::format("{0}_of_warp[threadIdx.x / 32] = {0};", value_of(accumulator)));
    }
    out->Close();
    out->Line("__syncthreads();");
    for (const Accumulator& accumulator : accumulators) {
      out->Line(fmt::format("{0} = {0}_of_warp[threadIdx.x % {1}];", value_of(accumulator), warps));
    }
    shuffle(warps / 2);
    out->Line("__syncthreads();  // before the next call writes");
  }
  if (single) {
    out->Line("return value;");
  }
  out->Close();
  out->Blank();
}

std::string BlockFoldCall(const std::string& name, const std::vector<Accumulator>& accumulators) {
  if (accumulators.size() == 1) {
    return fmt::format("{0} = {1}({0});", accumulators[0].name, name);
  }
  std::string arguments;
  for (const Accumulator& accumulator : accumulators) {
    arguments += (arguments.empty() ? "" : ", ") + accumulator.name;
  }
  return fmt::format("{}({});", name, arguments);
}

void PrintUnflatten(const std::vector<Dim>& dims, const std::string& number, CodeWriter* out) {
  // number = ((d0 * e1 + d1) * e2 + d2) ...
  std::string stride;
  std::vector<std::string> lines;
  for (size_t i = dims.size(); i-- > 0;) {
    const Dim& dim = dims[i];
    std::string value =
        stride.empty()
            ? number
            : fmt::format("{} / {}", number,
                          stride.find(' ') == std::string::npos ? stride : "(" + stride + ")");
    if (i != 0) {
      value = fmt::format("{} % {}", value, Operand(dim.extent));
    }
    lines.push_back(fmt::format("const {} {} = {};", TypeName(dim.extent->type), dim.name, value));
    stride =
        stride.empty() ? Operand(dim.extent) : fmt::format("{} * {}", stride, Operand(dim.extent));
  }
  for (size_t i = lines.size(); i-- > 0;) {
    out->Line(lines[i]);
  }
}

}  // namespace optiml::rewrite

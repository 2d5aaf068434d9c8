#ifndef OPTIML_PTX_MODULE_H_
#define OPTIML_PTX_MODULE_H_

// Module: PTX text as data: variables, functions, and instructions as opcode string plus operands,
// each with its PTX line and the source line that `.loc` gives it. Nothing here knows what an
// opcode means: an instruction that the machine cannot execute still parses, and is named when a
// kernel that contains it is launched.
//
// A Module is immutable after ParsePtx and may be shared by threads.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace optiml::ptx {

class Program;

enum class Type : uint8_t {
  kNone,
  kPred,
  kB8,
  kB16,
  kB32,
  kB64,
  kB128,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kF16x2,
  kBf16,
  kBf16x2,
  kF32,
  kF64,
  kTf32,
  kE4m3,
  kE5m2,
  kE4m3x2,
  kE5m2x2,
  kU16x2,
  kS16x2
};
// "f32"; "" for kNone.
std::string_view TypeName(Type type);
// kNone when the name is no type.
Type ParseType(std::string_view name);
// Of one element; 0 for kNone, 1 for kPred.
uint32_t TypeBytes(Type type);

enum class Space : uint8_t { kNone, kGlobal, kConst, kShared, kLocal, kParam };

// Of one function, in its register table.
struct Register {
  std::string name;  // "%rd4"; a register of an inner scope carries the scope's number: "t@3"
  Type type = Type::kNone;
};

enum class OperandKind : uint8_t {
  kRegister,   // index: register
  kSpecial,    // text: "%tid.x"
  kImmediate,  // bits; is_float: a 0f / 0d / decimal constant, float_bits 32 or 64
  kSymbol,     // text: variable or function, offset
  kLabel,      // index: label
  kAddress,    // [elements[0] + offset] with a register, symbol or immediate base
  kVector,     // elements
  kList,       // elements: the parenthesised list of a call
  kPair,       // elements[0] | elements[1], as in setp and shfl
  kSink        // "_"
};

struct Operand {
  OperandKind kind = OperandKind::kSink;
  bool negated = false;  // "!%p1" (predicates) or "-%f1"
  bool is_float = false;
  uint8_t float_bits = 0;  // 64 for decimal and 0d constants, 32 for 0f
  int32_t index = -1;
  uint64_t bits = 0;  // integers: two's complement; floats: IEEE bits of float_bits width
  int64_t offset = 0;
  std::string text;
  std::vector<Operand> elements;
};

struct Instruction {
  std::string opcode;  // whole: "ld.global.nc.v2.f32"
  std::vector<Operand> operands;
  int32_t predicate = -1;  // register index; -1: always
  bool predicate_negated = false;
  int32_t ptx_line = 0;
  int32_t source_line = 0;  // of the main source file, through inlined_at; 0: unknown
};

// A variable of any space. Shared and local variables of a function live in the function.
struct Variable {
  std::string name;
  Space space = Space::kNone;
  Type type = Type::kNone;
  uint64_t bytes = 0;  // 0 for an unsized extern array (dynamic shared memory)
  uint32_t alignment = 1;
  bool is_extern = false;
  std::vector<std::byte> initial;  // empty: zero
  // Addresses inside `initial`: byte position, symbol, offset added.
  struct Relocation {
    uint64_t position = 0;
    std::string symbol;
    int64_t offset = 0;
    bool generic = false;
  };
  std::vector<Relocation> relocations;
};

struct Parameter {
  std::string name;
  Type type = Type::kNone;
  uint64_t bytes = 0;
  uint32_t alignment = 1;
  uint64_t offset = 0;  // in the parameter block, naturally aligned as the driver lays it out
};

struct Function {
  std::string name;
  bool is_entry = false;
  bool is_declaration = false;  // no body: vprintf, __assertfail, malloc, or undefined
  std::vector<Parameter> parameters;
  std::vector<Parameter> results;
  uint64_t parameter_bytes = 0;
  std::vector<Register> registers;
  std::vector<Variable> variables;  // .shared, .local and .param declared in the body
  std::vector<std::string> labels;
  std::vector<int32_t> label_targets;  // label -> instruction index (may equal
                                       // instructions.size()); -1: never placed
  // .branchtargets tables: label -> labels
  std::vector<std::pair<std::string, std::vector<int32_t>>> branch_tables;
  std::vector<Instruction> instructions;
  uint32_t required_threads[3] = {0, 0, 0};  // .reqntid; 0: none
  uint32_t maximum_threads[3] = {0, 0, 0};   // .maxntid; 0: none
  uint32_t required_cluster[3] = {0, 0, 0};  // .reqnctapercluster; 0: none
  uint32_t maximum_cluster = 0;              // .maxclusterrank: blocks of a cluster; 0: none
  int32_t source_line = 0;

  // Shared bytes the function's own variables take, without dynamic shared memory.
  uint64_t StaticSharedBytes() const;
};

class Module {
 public:
  std::string name;         // of the text, for messages
  std::string version;      // "9.0"
  std::string target;       // "sm_90"
  std::string source_file;  // file 1 of the `.file` table; empty without line information
  std::vector<Variable> variables;
  std::vector<Function> functions;

  // Null when there is none.
  const Function* FindFunction(std::string_view function_name) const;
  const Function* FindKernel(std::string_view kernel_name) const;  // entries only
  const Variable* FindVariable(std::string_view variable_name) const;
  // Names of the entries, in the text's order.
  std::vector<std::string> KernelNames() const;
  // Shared bytes of a kernel: its own and the module's shared variables, without dynamic shared
  // memory.
  uint64_t StaticSharedBytes(std::string_view kernel_name) const;

  // Names this parse among all of the process; copies share it.
  uint64_t id() const { return id_; }

  // Decoded kernels, made at the first launch of each; see program.h.
  struct ProgramCache {
    std::mutex mutex;
    std::vector<std::pair<std::string, std::shared_ptr<const Program>>> programs;
  };
  ProgramCache& programs() const { return *programs_; }

  Module();

 private:
  uint64_t id_;
  std::shared_ptr<ProgramCache> programs_;
};

// Parses PTX text. `name` is used in messages: "name:12: expected ';'". Fails with kParse on
// anything that is not well-formed; an unknown opcode or modifier is not a failure.
Result<Module> ParsePtx(std::string_view text, std::string_view name);

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_MODULE_H_

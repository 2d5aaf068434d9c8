#ifndef OPTIML_PTX_DECODER_H_
#define OPTIML_PTX_DECODER_H_

// Decoder: turns the instructions of one function into Ops of a Program. decode.cpp walks blocks
// and control flow; decode_alu.cpp and decode_memory.cpp know the operations. Internal to ptx/.

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/control_flow.h"
#include "ptx/handlers.h"
#include "ptx/matrix.h"
#include "ptx/opcode.h"
#include "ptx/program.h"

namespace optiml::ptx {

// What all functions of a program share while it is decoded.
// The operation cannot be decoded; caught where instructions are decoded, which names it.
struct CannotDecode {
  std::string why;
};

struct ProgramBuilder {
  const Module* module = nullptr;
  const Function* kernel = nullptr;
  Program program;
  std::map<std::pair<uint64_t, uint32_t>, uint32_t> constants;  // (bits, bytes) -> offset
  std::map<std::string, int32_t> functions;  // name -> index in program.functions
  std::vector<const Function*> pending;      // to be decoded, in order of their index
  std::map<std::string, uint32_t> shared_offsets;
  // Offsets of .param and .local variables, parameters and results in each function's local frame.
  struct Frame {
    std::map<std::string, std::pair<uint32_t, uint32_t>> places;  // offset, bytes
    uint32_t bytes = 0;
  };
  std::deque<Frame> frames;  // references stay valid while it grows
  // Ops whose pointers are filled in at the end.
  struct Fixup {
    uint32_t op = 0;
    int64_t target = -1;         // op index
    int64_t reconvergence = -1;  // op index
  };
  std::vector<Fixup> fixups;
  std::vector<std::vector<int64_t>> branch_tables;  // op indices
  const HandlerTable* handlers = nullptr;
  bool shadows = false;
  std::vector<const Function*> address_taken;  // what calls through pointers may reach

  Place Constant(uint64_t bits, uint32_t bytes);
  int32_t FunctionIndex(const Function& function);
};

// Copies, mbarriers, clusters: blocks need what async_state.h holds.
bool UsesAsync(const Instruction& instruction);

class Decoder {
 public:
  Decoder(ProgramBuilder& builder, int32_t function_index);
  void Decode();

 private:
  struct Extension {  // after the instruction: a narrow result into its wide register
    Place from;
    Place to;
    uint32_t from_bytes;
    uint32_t to_bytes;
    bool is_signed;
  };

  // decode.cpp
  void PlaceRegisters();
  void LayOutFrame();
  Place Slot(uint32_t bytes);
  Place Special(std::string_view name, uint32_t bytes);
  Op& Emit(Handler run);
  template <class Request>  // AluRequest or MemoryRequest
  Op& Emit(Handler run, const Request& request) {
    Op& op = Emit(run);
    if (b_.shadows) {
      program_.shadow_sites.resize(program_.ops.size());
      program_.shadow_sites.back() = ShadowSiteOf(request);
    }
    return op;
  }
  Place Source(const Operand& operand, Type type, uint32_t bytes);
  Place PredicateSource(const Operand& operand, bool& negated);
  Place Destination(const Operand& operand, uint32_t bytes, bool is_signed);
  Place PredicateDestination(const Operand& operand);
  Place ImmediatePlace(const Operand& operand, Type type, uint32_t bytes);
  Place SymbolPlace(const Operand& operand, uint32_t bytes);
  uint32_t RegisterBytes(const Operand& operand) const;
  void EmitExtensions();
  void DecodeBlock(uint32_t block);
  void DecodeInstruction(const Instruction& instruction);
  bool DecodeControl(const Instruction& instruction, const Opcode& opcode);
  bool DecodeBarrier(const Instruction& instruction, const Opcode& opcode);
  bool DecodeCall(const Instruction& instruction);
  bool DecodeIndirectCall(const Operand& pointer, const Operand* results, const Operand* arguments);
  CallSite SiteOf(const Function& callee, const Operand* results, const Operand* arguments);
  bool DecodeWarp(const Instruction& instruction, const Opcode& opcode);
  Place Members(const std::vector<Operand>& operands, size_t at);
  void Unsupported(const Instruction& instruction, std::string_view why = {});
  bool BlockPolls(uint32_t block) const;
  bool LoopPolls(uint32_t from, uint32_t to) const;
  // decode_alu.cpp
  bool DecodeAlu(const Instruction& instruction, const Opcode& opcode);
  bool DecodeLop3(const Instruction& instruction, const Opcode& opcode);
  bool DecodeMov(const Instruction& instruction, const Opcode& opcode);
  bool DecodeCompare(const Instruction& instruction, const Opcode& opcode);
  bool DecodeConvert(const Instruction& instruction, const Opcode& opcode);
  bool DecodeCarry(const Instruction& instruction, const Opcode& opcode);
  bool EmitAlu(const AluRequest& request, const Instruction& instruction, uint32_t result_bytes,
               const std::vector<std::pair<Type, uint32_t>>& sources, uint32_t aux = 0,
               uint32_t aux2 = 0);
  Handler Find(const AluRequest& request) const;
  // decode_memory.cpp
  bool DecodeLoadStore(const Instruction& instruction, const Opcode& opcode);
  bool DecodeAtomic(const Instruction& instruction, const Opcode& opcode);
  bool DecodeConvertAddress(const Instruction& instruction, const Opcode& opcode);
  struct Address {
    Place place = 0;
    int64_t offset = 0;
    bool wide = true;
    bool frame_relative = false;
  };
  bool DecodeAddress(const Operand& operand, Space space, Address& address);
  bool LoadParameter(const Instruction& instruction, uint64_t offset, Type type, uint32_t vector);
  // One load or store; `values`: registers of the vector's elements.
  void EmitMemory(Handler handler, const MemoryRequest& request, const Address& address,
                  const std::vector<Place>& values);
  // decode_matrix.cpp, decode_wmma.cpp
  bool DecodeMatrix(const Instruction& instruction, const Opcode& opcode);
  bool DecodeMma(const Instruction& instruction, const Opcode& opcode);
  bool DecodeMoveMatrices(const Instruction& instruction, const Opcode& opcode);
  bool DecodeWarpgroup(const Instruction& instruction, const Opcode& opcode);
  bool DecodeWmma(const Instruction& instruction, const Opcode& opcode);
  bool DecodeWmmaMemory(const Instruction& instruction, const Opcode& opcode);
  Place LaneConstant(const std::array<uint64_t, 32>& values, uint32_t bytes);
  Place FragmentAddress(const Address& base, const Operand* stride, uint32_t default_stride,
                        const std::array<uint64_t, 32>& major,
                        const std::array<uint64_t, 32>& minor, uint32_t bytes);
  // decode_texture.cpp
  bool DecodeTexture(const Instruction& instruction, const Opcode& opcode);
  std::vector<Place> MatrixSources(const Operand& operand, size_t count, uint32_t bytes);
  std::vector<Place> MatrixDestinations(const Operand& operand, size_t count, uint32_t bytes);
  uint32_t AddMatrixSite(MatrixSite site);
  // decode_async.cpp
  bool DecodeAsync(const Instruction& instruction, const Opcode& opcode);
  bool DecodeCopy(const Instruction& instruction, const Opcode& opcode);
  bool DecodeBulk(const Instruction& instruction, const Opcode& opcode);
  bool DecodeStoreAsync(const Instruction& instruction, const Opcode& opcode);
  bool DecodeMbarrier(const Instruction& instruction, const Opcode& opcode);
  bool DecodeCluster(const Instruction& instruction, const Opcode& opcode);
  bool DecodeHints(const Instruction& instruction, const Opcode& opcode);
  Place Widened(Place narrow);  // 32-bit lanes as 64-bit ones, with zeros
  Place AddressPlace(const Operand& operand, Space space);  // 64-bit lanes, offset added

  ProgramBuilder& b_;
  Program& program_;
  int32_t index_;
  const Function& function_;
  ControlFlow flow_;
  std::vector<uint32_t> load_rounds_;  // by block
  std::vector<Place> registers_;
  uint32_t frame_bytes_ = 64;  // place 0 means none
  uint32_t predicate_room_ = 0;
  Place next_predicate_ = 0;
  std::map<std::pair<SpecialRegister, uint32_t>, Place> specials_;
  std::vector<Extension> extensions_;
  std::vector<uint32_t> block_ops_;  // by block: op index of its EnterBlock
  std::vector<std::pair<size_t, std::pair<uint32_t, int32_t>>>
      branches_;  // fixup index -> target block, reconvergence block
  std::vector<std::pair<size_t, std::vector<uint32_t>>> tables_;  // branch table -> blocks
  uint32_t current_block_ = 0;
  uint32_t current_instruction_ = 0;  // in Program::instructions
};

// The registers of a vector operand, or the operand itself.
std::vector<const Operand*> ElementsOf(const Operand& operand);
// "m16n8k16" into m, n and k; false when the word is no shape.
bool ParseMatrixShape(std::string_view word, MatrixShape& shape);
// Of the registers that hold elements of a type: 8 for f64, else 4.
uint32_t MatrixRegisterBytes(Type type);

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_DECODER_H_

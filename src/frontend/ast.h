#ifndef OPTIML_FRONTEND_AST_H_
#define OPTIML_FRONTEND_AST_H_

// The syntax tree of one .cu file as the rest of the project sees it: Clang's tree after macros
// were expanded, names resolved, implicit conversions made explicit and templates instantiated,
// reduced to what kernels and launchers use. Only frontend/clang_*.cpp include Clang; the launcher
// interpreter and the rewrites read this tree.
//
// What has no node here becomes an kUnsupported expression or statement that carries its text and
// line: whoever executes or lifts it refuses, by name; a file is never refused for code that nobody
// needs.
//
// Nodes are immutable after parsing and shared; a SourceUnit owns its text.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace optiml::ast {

// Byte offsets into the unit's text, half open.
struct TextRange {
  uint32_t begin = 0;
  uint32_t end = 0;
  bool in_macro =
      false;  // some of it was spelled by a macro: the text cannot be replaced piecewise
};

enum class TypeKind {
  kVoid,
  kBool,
  kInt,      // bits, is_signed
  kFloat,    // bits 16 (__half; is_bfloat for __nv_bfloat16), 32, 64; 8 with text for fp8
  kPointer,  // element
  kArray,    // element, count (-1: unknown, extern __shared__ x[])
  kVector,   // float4, int2, ...: element, count
  kDim3,
  kStruct,  // text, size_bytes
  kOther,   // text: cudaStream_t, cudaError_t, std:: types ...
};

struct Type;
using TypePtr = std::shared_ptr<const Type>;

// A data member of a struct; bit fields and bases have none, so a struct that has them has no
// fields.
struct Field {
  std::string name;
  TypePtr type;
  uint64_t offset_bytes = 0;
};

struct Type {
  TypeKind kind = TypeKind::kVoid;
  int bits = 0;
  bool is_signed = false;
  bool is_bfloat = false;
  bool is_const = false;
  bool is_restrict = false;  // pointers
  bool is_reference = false;
  int64_t count = 0;
  uint64_t size_bytes = 0;  // sizeof; 0 when incomplete
  TypePtr element;
  // kStruct, when complete and plain data, in order. Empty in a struct that is only pointed to from
  // within itself.
  std::vector<Field> fields;
  // A class whose objects do something by themselves: a destructor, copies, virtual functions or
  // bases of its own.
  bool is_active = false;
  std::string text;  // as CUDA C++ spells it after typedefs were resolved: "const float *"
};

enum class ExprKind {
  kIntLiteral,     // int_value (also characters, enumerators and folded sizeof)
  kFloatLiteral,   // float_value; text as spelled ("1e-5f"; "INFINITY" when it is not finite)
  kBoolLiteral,    // int_value 0 or 1
  kStringLiteral,  // text without quotes
  kNull,
  kVariable,     // variable (see Variable::id), name
  kFunction,     // a function named as a value: function, name (name expression of a kernel)
  kBuiltin,      // name: "threadIdx.x", "blockDim.y", "warpSize"
  kSubscript,    // operands: base (an array without decay, or a pointer), index
  kDereference,  // operands: pointer
  kAddressOf,    // operands: lvalue
  kMember,       // operands: base; name
  kUnary,        // op: "-" "!" "~" "+"
  kBinary,  // op: "+" "-" "*" "/" "%" "<<" ">>" "&" "|" "^" "<" "<=" ">" ">=" "==" "!=" "&&" "||"
            // ","
  kAssign,  // op: "=" "+=" "-=" ...; operands: target, value
  kIncrement,    // op: "++x" "x++" "--x" "x--"
  kConditional,  // operands: condition, then, else
  // operands: value; type is the target; is_implicit. Array decay is one; reading an lvalue and
  // adding const are none.
  kCast,
  kCall,        // name (qualified), function (or -1); operands: arguments; text: template arguments
                // ("<float>" or "")
                // "operator new[]" (operand: the count; "operator new[]()" sets to zero) and
                // "operator delete" (operand: the pointer) are calls too
  kMethodCall,  // operands: object, arguments ...; name; function (or -1)
  kConstruct,   // type; operands: arguments (dim3(x, y) has 1 to 3)
  kInitList,    // operands; what they leave out is zero
  kLaunch,  // name: name expression; function; operands: grid, block, dynamic shared bytes, stream,
            // arguments ...
  kLambda,  // function: its body; operands: the captured variables; op: one character for each, '='
            // by value, '&' by reference
  kUnsupported,  // text; name: what it is
};

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

struct Expr {
  ExprKind kind = ExprKind::kUnsupported;
  TypePtr type;  // of the value; never null
  int line = 0;  // 1-based, in the file (of the expansion, for macros)
  TextRange range;
  std::string op;
  std::string name;
  std::string text;
  int64_t int_value = 0;
  double float_value = 0;
  int variable = -1;
  int function = -1;
  bool is_implicit = false;
  std::vector<ExprPtr> operands;
};

enum class StmtKind {
  kBlock,       // children
  kDeclare,     // variables (ids, in order)
  kExpression,  // expr
  kIf,          // expr; children: then [, else]; init in variables
  kFor,  // children: init (kDeclare, kExpression or an empty kBlock), body; expr: condition (may be
         // null); step
  kWhile,   // expr; children: body
  kDo,      // expr; children: body
  kSwitch,  // expr; children: cases
  kCase,    // cases: int_values; is_default; children: statements up to the next case (fall through
            // is explicit)
  kReturn,  // expr (may be null)
  kBreak,
  kContinue,
  kAsm,          // text
  kUnsupported,  // text; name
};

struct Stmt;
using StmtPtr = std::shared_ptr<const Stmt>;

struct Stmt {
  StmtKind kind = StmtKind::kUnsupported;
  int line = 0;
  TextRange range;
  ExprPtr expr;
  ExprPtr step;  // kFor
  std::vector<StmtPtr> children;
  std::vector<int> variables;  // kDeclare, kIf with a declaration in its condition
  std::vector<int64_t> int_values;
  bool is_default = false;
  int unroll = 0;  // #pragma unroll before a loop: -1 without a count
  std::string text;
  std::string name;
};

enum class Storage {
  kParameter,
  kLocal,
  kShared,
  kExternShared,
  kConstant,
  kDeviceGlobal,
  kHostGlobal,
  kStatic
};

struct Variable {
  int id = -1;  // index into SourceUnit::variables
  std::string name;
  TypePtr type;
  Storage storage = Storage::kLocal;
  ExprPtr init;  // may be null
  int line = 0;
  TextRange range;
  bool is_constexpr = false;
  std::string symbol;  // of a __device__ or __constant__ variable: its name in PTX
  std::string name_expression;  // of such a variable outside of functions: "ns::table"
  std::optional<int64_t>
      constant;  // its value when the language makes it one (constexpr, enumerator, const int = 4)
};

struct Function {
  int id = -1;       // index into SourceUnit::functions
  std::string name;  // unqualified
  std::string
      name_expression;  // as NVRTC wants it: "ns::f<float, 4>"; the plain name without templates
  bool is_kernel = false;
  bool is_device = false;
  bool is_host = false;
  bool is_extern_c = false;
  bool is_template_instance = false;
  std::vector<int> parameters;  // variable ids
  TypePtr return_type;
  StmtPtr body;  // null for a declaration
  int line = 0;
  int end_line = 0;
  TextRange range;  // the whole definition: attributes, template header, extern "C", up to the
                    // closing brace
  std::string template_arguments;  // "<float, 4>" or ""
  // The template itself: no body and no parameters (its instances are functions of their own), one
  // entry a template parameter: "typename T", "int BLOCK = 256".
  bool is_template = false;
  std::vector<std::string> template_parameters;
  // A method or a lambda's body: the struct's name. A method that is not static has the variable
  // "this" as its first parameter.
  std::string method_of;
  std::optional<int> launch_bounds_threads;
  std::optional<int> launch_bounds_blocks;
  std::vector<int> cluster_dims;  // __cluster_dims__: 1 to 3 values; empty without
};

// What happens although no statement says so: a function that runs when the program starts, a name
// that the linker knows as another one.
struct HiddenEffect {
  std::string what;  // "function \"init\" runs when the program starts"
  int line = 0;
};

// The text that a host compiler gets when a launcher is recorded (clang_host_text.cpp).
struct HostText {
  std::string text;
  std::string problem;  // why there is none: "inline assembly"; empty when there is one
  int problem_line = 0;
};

struct SourceUnit {
  std::string path;
  std::string text;
  std::vector<Variable> variables;
  std::vector<Function>
      functions;  // of the file itself, with every template instance that something in it uses
  std::vector<HiddenEffect> hidden_effects;  // of the file's declarations, in order
  // The text that NVRTC gets: `text` with host-only functions blanked (newlines kept, so that lines
  // stay true).
  std::string device_text;
  HostText host_text;

  const Function* FindFunction(const std::string& name_expression) const;
};

}  // namespace optiml::ast

#endif  // OPTIML_FRONTEND_AST_H_

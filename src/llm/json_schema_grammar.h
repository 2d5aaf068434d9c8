#ifndef OPTIML_LLM_JSON_SCHEMA_GRAMMAR_H_
#define OPTIML_LLM_JSON_SCHEMA_GRAMMAR_H_

// A grammar (GBNF, llama.cpp's notation) that lets through the JSON values that a JSON Schema
// allows, in one spelling: properties in the schema's order, one optional blank after a colon or a
// comma.
//
// The subset: "type" object (with "properties", "required", "additionalProperties": false; or
// without properties and with a schema of values as "additionalProperties"), array (with "items",
// "minItems", "maxItems"), string ("minLength"), number and integer ("minimum", "maximum",
// "exclusiveMinimum", "exclusiveMaximum"), boolean, null; "enum" and "const"; "title",
// "description", "$schema" mean nothing. A property that is not required may be left out.
//
// Of the bounds of numbers only that they are not below 0, and of lengths only that a string is not
// empty, are in the grammar: whoever reads the value looks at them.

#include <string>
#include <string_view>

#include "base/result.h"

namespace optiml {

// The grammar; its start symbol is "root". Fails with kInvalidArgument when the schema is not JSON
// or uses anything else, naming the place and the keyword.
Result<std::string> JsonSchemaGrammar(std::string_view schema);

}  // namespace optiml

#endif  // OPTIML_LLM_JSON_SCHEMA_GRAMMAR_H_

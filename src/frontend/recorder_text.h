#ifndef OPTIML_FRONTEND_RECORDER_TEXT_H_
#define OPTIML_FRONTEND_RECORDER_TEXT_H_

// What the recorder's programs are made of: C++ texts that are embedded in the binary
// (frontend/recorder/), and the names that they and a launcher's host text share.

#include <span>
#include <string>

#include "base/embedded_text.h"

namespace optiml {

// launcher.h, which a launcher's host text begins with; protocol.h; runtime.cpp, the stub of the
// CUDA runtime with the program's main.
std::span<const EmbeddedText> EmbeddedRecorderTexts();

namespace frontend {

// The namespace of launcher.h in the program made from this text: no text can name its own.
std::string RecorderNamespace(const std::string& text);

}  // namespace frontend
}  // namespace optiml

#endif  // OPTIML_FRONTEND_RECORDER_TEXT_H_

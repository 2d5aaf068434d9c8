// Memory of a recorded launcher: its heap, and the comparison of everything that outlives a call.
// The recorder's own state lies in a mapping of its own and is not compared.

#pragma once

#include <elf.h>
#include <link.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace optiml::recording {

constexpr uint64_t kArenaBytes = uint64_t{1} << 30;
constexpr uint64_t kArenaUsual = uint64_t{1} << 40;
constexpr uint64_t kArenaOther = uint64_t{0x5555'4000'0000};
constexpr uint64_t kSlot = 16;  // bytes of a block's head, and its alignment

// In front of every block. A free block has `size` 0 and the next free one of its class in `next`.
struct Block {
  uint64_t capacity;
  uint64_t size;
};

struct Heap {
  unsigned char* base;
  uint64_t top;
  uint64_t free_lists[64];  // offsets of heads plus one, in the order of addresses; 0: none
  unsigned char fill;       // of memory that nobody wrote
  unsigned char* first;     // the arena before it was moved; null: it was not
};

inline Heap* heap = nullptr;

inline Heap& TheHeap() {
  if (heap == nullptr) {
    void* own = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void* arena = mmap(reinterpret_cast<void*>(kArenaUsual), kArenaBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (own == MAP_FAILED || arena == MAP_FAILED) {
      __builtin_trap();
    }
    heap = static_cast<Heap*>(own);
    heap->base = static_cast<unsigned char*>(arena);
    heap->fill = 0xA5;
  }
  return *heap;
}

// From now on memory comes from other addresses. What the libraries took before stays where it is.
inline void MoveHeap() {
  Heap& h = TheHeap();
  void* arena = mmap(reinterpret_cast<void*>(kArenaOther), kArenaBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (arena == MAP_FAILED) {
    __builtin_trap();
  }
  h.first = h.base;
  h.base = static_cast<unsigned char*>(arena);
  h.top = 0;
  std::memset(h.free_lists, 0, sizeof(h.free_lists));
}

inline int ClassOf(uint64_t capacity) {
  return 63 - __builtin_clzll(capacity);
}

inline Block* BlockAt(uint64_t offset) {
  return reinterpret_cast<Block*>(TheHeap().base + offset);
}

inline void* Take(uint64_t size) {
  Heap& h = TheHeap();
  if (size > kArenaBytes / 2) {
    return nullptr;
  }
  uint64_t capacity = 32;
  while (capacity < size + 1) {
    capacity *= 2;
  }
  uint64_t& list = h.free_lists[ClassOf(capacity)];
  Block* block = nullptr;
  if (list != 0) {
    block = BlockAt(list - 1);
    std::memcpy(&list, block + 1, sizeof(list));
  } else {
    if (h.top + kSlot + capacity > kArenaBytes) {
      return nullptr;
    }
    block = BlockAt(h.top);
    h.top += kSlot + capacity;
    block->capacity = capacity;
  }
  block->size = size + 1;
  std::memset(block + 1, h.fill, size);
  std::memset(reinterpret_cast<unsigned char*>(block + 1) + size, 0, capacity - size);
  return block + 1;
}

inline void Give(void* pointer) {
  if (pointer == nullptr) {
    return;
  }
  Heap& h = TheHeap();
  auto* at = static_cast<unsigned char*>(pointer);
  if (h.first != nullptr && at >= h.first && at < h.first + kArenaBytes) {
    return;
  }
  Block* block = static_cast<Block*>(pointer) - 1;
  const auto offset = static_cast<uint64_t>(reinterpret_cast<unsigned char*>(block) - h.base);
  if (offset >= h.top || block->size == 0 || block->size > block->capacity) {
    __builtin_trap();
  }
  block->size = 0;
  std::memset(pointer, 0, block->capacity);
  // In the order of addresses, so that calls that take and give the same get the same.
  uint64_t* link = &h.free_lists[ClassOf(block->capacity)];
  while (*link != 0 && *link - 1 < offset) {
    link = reinterpret_cast<uint64_t*>(BlockAt(*link - 1) + 1);
  }
  std::memcpy(pointer, link, sizeof(*link));
  *link = offset + 1;
}

// Takes a block whose address is a multiple of `alignment`. Beyond 16 it is never given back.
inline void* TakeAligned(uint64_t alignment, uint64_t size) {
  if (alignment <= kSlot) {
    return Take(size);
  }
  Heap& h = TheHeap();
  uint64_t start = h.top + kSlot;
  start = (start + alignment - 1) / alignment * alignment;
  uint64_t capacity = 32;
  while (capacity < size + 1) {
    capacity *= 2;
  }
  if (size > kArenaBytes / 2 || start + capacity > kArenaBytes) {
    return nullptr;
  }
  h.top = start + capacity;
  Block* block = BlockAt(start) - 1;
  block->capacity = capacity;
  block->size = size + 1;
  std::memset(block + 1, h.fill, size);
  return block + 1;
}

struct Range {
  unsigned char* begin;
  uint64_t size;
};

constexpr int kMaxRanges = 32;

struct Ranges {
  Range of[kMaxRanges];
  int count;
};

inline void AddRange(Ranges& ranges, uint64_t begin, uint64_t size) {
  if (ranges.count < kMaxRanges && size > 0) {
    ranges.of[ranges.count++] = {reinterpret_cast<unsigned char*>(begin), size};
  }
}

// Variables of the program and of the libraries it is linked with, thread-local ones included.
inline void FindVariables(Ranges& ranges) {
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* into) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = info->dlpi_phdr[i];
          if (part.p_type == PT_LOAD && (part.p_flags & PF_W) != 0) {
            AddRange(*static_cast<Ranges*>(into), info->dlpi_addr + part.p_vaddr, part.p_memsz);
          } else if (part.p_type == PT_TLS && info->dlpi_tls_data != nullptr) {
            AddRange(*static_cast<Ranges*>(into), reinterpret_cast<uint64_t>(info->dlpi_tls_data),
                     part.p_memsz);
          }
        }
        return 0;
      },
      &ranges);
}

}  // namespace optiml::recording

extern "C" {
void* malloc(size_t size) {
  void* block = optiml::recording::Take(size);
  if (block == nullptr) {
    errno = ENOMEM;
  }
  return block;
}
void free(void* pointer) {
  optiml::recording::Give(pointer);
}
void* calloc(size_t count, size_t size) {
  size_t bytes = 0;
  void* block = __builtin_mul_overflow(count, size, &bytes) ? nullptr : malloc(bytes);
  if (block != nullptr) {
    std::memset(block, 0, bytes);
  }
  return block;
}
void* realloc(void* pointer, size_t size) {
  void* block = malloc(size);
  if (block != nullptr && pointer != nullptr) {
    const uint64_t old = (static_cast<optiml::recording::Block*>(pointer) - 1)->size - 1;
    std::memcpy(block, pointer, old < size ? old : size);
    free(pointer);
  }
  return block;
}
void* memalign(size_t alignment, size_t size) {
  return optiml::recording::TakeAligned(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  return optiml::recording::TakeAligned(alignment, size);
}
int posix_memalign(void** pointer, size_t alignment, size_t size) {
  *pointer = optiml::recording::TakeAligned(alignment, size);
  return *pointer == nullptr ? ENOMEM : 0;
}
}

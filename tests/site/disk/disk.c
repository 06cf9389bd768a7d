// A disk that fails: the calls of one kind on files whose paths hold DISK_PATH are counted, and those from the DISK_FROM-th to the
// DISK_TO-th fail, are cut short or wait. Preloaded into the program by tests/site/disk.rs. DISK_COUNT names a file that gets the
// number of calls when the process ends.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define FILES 65536
static atomic_char watched[FILES];
static atomic_long calls;

static const char *setting(const char *name) {
  const char *value = getenv(name);
  return value ? value : "";
}

// Whether this call is one of those that are disturbed.
static int disturbed(int file, const char *kind) {
  if (file < 0 || file >= FILES || !watched[file] || strcmp(setting("DISK_CALL"), kind)) return 0;
  long number = ++calls;
  return number >= atol(setting("DISK_FROM")) && number <= atol(setting("DISK_TO"));
}

static int fails(void) {
  if (!strcmp(setting("DISK_HOW"), "late")) {
    nanosleep(&(struct timespec){0, 200 * 1000 * 1000}, NULL);
    return 0;
  }
  errno = strcmp(setting("DISK_HOW"), "full") ? EIO : ENOSPC;
  return 1;
}

static int opened(int file, const char *path) {
  if (file >= 0 && file < FILES) watched[file] = strstr(path, setting("DISK_PATH")) != NULL;
  return file;
}

#define REAL(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))
#define OPEN(name)                                                          \
  int name(const char *path, int flags, ...) {                              \
    va_list rest;                                                           \
    va_start(rest, flags);                                                  \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                           \
    return opened(REAL(name)(path, flags, mode), path);                     \
  }
OPEN(open)
OPEN(open64)

int close(int file) {
  if (file >= 0 && file < FILES) watched[file] = 0;
  return REAL(close)(file);
}

#define WRITE(name, offset)                                                          \
  ssize_t name(int file, const void *bytes, size_t length, offset at) {              \
    if (disturbed(file, "write")) {                                                  \
      if (!strcmp(setting("DISK_HOW"), "short")) length = length > 1 ? length / 2 : 1; \
      else if (fails()) return -1;                                                   \
    }                                                                                \
    return REAL(name)(file, bytes, length, at);                                      \
  }
WRITE(pwrite, off_t)
WRITE(pwrite64, off64_t)

#define READ(name, offset)                                                           \
  ssize_t name(int file, void *bytes, size_t length, offset at) {                    \
    if (disturbed(file, "read")) {                                                   \
      if (!strcmp(setting("DISK_HOW"), "short")) length = length > 1 ? length / 2 : 1; \
      else if (fails()) return -1;                                                   \
    }                                                                                \
    return REAL(name)(file, bytes, length, at);                                      \
  }
READ(pread, off_t)
READ(pread64, off64_t)

int fsync(int file) { return disturbed(file, "sync") && fails() ? -1 : REAL(fsync)(file); }
int fdatasync(int file) { return disturbed(file, "sync") && fails() ? -1 : REAL(fdatasync)(file); }
int ftruncate(int file, off_t length) { return disturbed(file, "truncate") && fails() ? -1 : REAL(ftruncate)(file, length); }
int ftruncate64(int file, off64_t length) { return disturbed(file, "truncate") && fails() ? -1 : REAL(ftruncate64)(file, length); }

#define MAP(name, offset)                                                                     \
  void *name(void *start, size_t length, int access, int flags, int file, offset at) {        \
    if (!(flags & MAP_ANONYMOUS) && disturbed(file, "map") && fails()) return MAP_FAILED;     \
    return REAL(name)(start, length, access, flags, file, at);                                \
  }
MAP(mmap, off_t)
MAP(mmap64, off64_t)

__attribute__((destructor)) static void report(void) {
  FILE *told = fopen(setting("DISK_COUNT"), "w");
  if (told) {
    fprintf(told, "%ld", (long)calls);
    fclose(told);
  }
}

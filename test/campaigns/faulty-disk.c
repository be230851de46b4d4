/*
 * A disk that notes what it is asked and fails when it is told to. The dynamic linker loads it before the C library
 * (LD_PRELOAD), so that a program's own calls pass through here. Only files below FAULTY_DISK_DIRECTORY are touched.
 *
 *   FAULTY_DISK_RECORD  a file to which each operation is appended, once it is done:
 *                       u8 kind, u8 0, u16 length of the path, u32 length of the data, u64 offset, path, data
 *   FAULTY_DISK_SWITCH  a file that is mapped: u32 kinds (a bit each) that fail, u32 errno, u32 how many pass before that,
 *                       u32 how many have failed
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { WRITE = 1, TRUNCATE = 2, SYNC = 3, RENAME = 4, UNLINK = 5, CREATE = 6, READ = 7 };

struct control {
  uint32_t kinds;
  uint32_t error;
  uint32_t pass;
  uint32_t failed;
};

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static const char *directory;
static size_t directory_length;
static int record = -1;
static volatile struct control *control;

__attribute__((constructor)) static void begin(void) {
  directory = getenv("FAULTY_DISK_DIRECTORY");
  if (directory == NULL) return;
  directory_length = strlen(directory);
  const char *path = getenv("FAULTY_DISK_RECORD");
  if (path != NULL) record = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  path = getenv("FAULTY_DISK_SWITCH");
  if (path != NULL) {
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    if (fd >= 0) {
      void *at = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
      if (at != MAP_FAILED) control = at;
      syscall(SYS_close, fd);
    }
  }
}

static int is_ours(const char *path) {
  return directory != NULL && strncmp(path, directory, directory_length) == 0 && path[directory_length] == '/';
}

/* Answers whether the descriptor's file is below the directory, and its path. */
static int path_of(int fd, char *path) {
  if (directory == NULL) return 0;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  int error = errno;
  ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
  errno = error;
  if (length <= 0) return 0;
  path[length] = 0;
  return is_ours(path);
}

/* Answers a path from the root for what a call was given. */
static int full_path(int at, const char *given, char *path) {
  if (directory == NULL || given == NULL) return 0;
  if (given[0] == '/') snprintf(path, PATH_MAX, "%s", given);
  else if (at == AT_FDCWD) {
    char here[PATH_MAX];
    if (getcwd(here, sizeof here) == NULL) return 0;
    if (snprintf(path, PATH_MAX, "%s/%s", here, given) >= PATH_MAX) return 0;
  } else return 0;
  return is_ours(path);
}

static int fails(enum kind kind) {
  if (control == NULL || (control->kinds & (1u << kind)) == 0) return 0;
  if (control->pass > 0) {
    control->pass--;
    return 0;
  }
  control->failed++;
  errno = (int)control->error;
  return 1;
}

static void note(enum kind kind, const char *path, uint64_t offset, const void *data, size_t length) {
  if (record < 0) return;
  uint8_t head[16] = {(uint8_t)kind, 0};
  uint16_t path_length = (uint16_t)strlen(path);
  uint32_t data_length = (uint32_t)length;
  memcpy(head + 2, &path_length, 2);
  memcpy(head + 4, &data_length, 4);
  memcpy(head + 8, &offset, 8);
  struct iovec parts[3] = {{head, sizeof head}, {(void *)path, path_length}, {(void *)data, length}};
  int error = errno;
  syscall(SYS_writev, record, parts, length == 0 ? 2 : 3);
  errno = error;
}

#define NEXT(type, name) \
  static type next; \
  if (next == NULL) next = (type)dlsym(RTLD_NEXT, name)

typedef ssize_t (*pwrite_call)(int, const void *, size_t, off64_t);
typedef ssize_t (*write_call)(int, const void *, size_t);
typedef ssize_t (*pread_call)(int, void *, size_t, off64_t);
typedef int (*descriptor_call)(int);
typedef int (*truncate_call)(int, off64_t);
typedef int (*rename_call)(const char *, const char *);
typedef int (*path_call)(const char *);
typedef int (*openat_call)(int, const char *, int, ...);

static ssize_t pwrite_through(pwrite_call next, int fd, const void *data, size_t length, off64_t offset) {
  char path[PATH_MAX];
  if (!path_of(fd, path)) return next(fd, data, length, offset);
  pthread_mutex_lock(&turn);
  ssize_t done = fails(WRITE) ? -1 : next(fd, data, length, offset);
  if (done > 0) note(WRITE, path, (uint64_t)offset, data, (size_t)done);
  pthread_mutex_unlock(&turn);
  return done;
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) {
  NEXT(pwrite_call, "pwrite");
  return pwrite_through(next, fd, data, length, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) {
  NEXT(pwrite_call, "pwrite64");
  return pwrite_through(next, fd, data, length, offset);
}

ssize_t write(int fd, const void *data, size_t length) {
  NEXT(write_call, "write");
  char path[PATH_MAX];
  if (!path_of(fd, path)) return next(fd, data, length);
  pthread_mutex_lock(&turn);
  ssize_t done = fails(WRITE) ? -1 : next(fd, data, length);
  if (done > 0) {
    off64_t end = lseek64(fd, 0, SEEK_CUR);
    note(WRITE, path, (uint64_t)(end - done), data, (size_t)done);
  }
  pthread_mutex_unlock(&turn);
  return done;
}

static ssize_t pread_through(pread_call next, int fd, void *data, size_t length, off64_t offset) {
  char path[PATH_MAX];
  if (control == NULL || (control->kinds & (1u << READ)) == 0 || !path_of(fd, path)) return next(fd, data, length, offset);
  pthread_mutex_lock(&turn);
  int failing = fails(READ);
  pthread_mutex_unlock(&turn);
  return failing ? -1 : next(fd, data, length, offset);
}

ssize_t pread(int fd, void *data, size_t length, off_t offset) {
  NEXT(pread_call, "pread");
  return pread_through(next, fd, data, length, offset);
}

ssize_t pread64(int fd, void *data, size_t length, off64_t offset) {
  NEXT(pread_call, "pread64");
  return pread_through(next, fd, data, length, offset);
}

static int sync_through(descriptor_call next, int fd) {
  char path[PATH_MAX];
  if (directory == NULL) return next(fd);
  /* A descriptor of the directory itself counts too. */
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
  if (length <= 0) return next(fd);
  path[length] = 0;
  if (!is_ours(path) && strcmp(path, directory) != 0) return next(fd);
  pthread_mutex_lock(&turn);
  int done = fails(SYNC) ? -1 : next(fd);
  if (done == 0) note(SYNC, path, 0, NULL, 0);
  pthread_mutex_unlock(&turn);
  return done;
}

int fsync(int fd) {
  NEXT(descriptor_call, "fsync");
  return sync_through(next, fd);
}

int fdatasync(int fd) {
  NEXT(descriptor_call, "fdatasync");
  return sync_through(next, fd);
}

static int truncate_through(truncate_call next, int fd, off64_t size) {
  char path[PATH_MAX];
  if (!path_of(fd, path)) return next(fd, size);
  pthread_mutex_lock(&turn);
  int done = fails(TRUNCATE) ? -1 : next(fd, size);
  if (done == 0) note(TRUNCATE, path, (uint64_t)size, NULL, 0);
  pthread_mutex_unlock(&turn);
  return done;
}

int ftruncate(int fd, off_t size) {
  NEXT(truncate_call, "ftruncate");
  return truncate_through(next, fd, size);
}

int ftruncate64(int fd, off64_t size) {
  NEXT(truncate_call, "ftruncate64");
  return truncate_through(next, fd, size);
}

int rename(const char *from, const char *to) {
  NEXT(rename_call, "rename");
  char path[PATH_MAX], other[PATH_MAX];
  if (!full_path(AT_FDCWD, from, path) || !full_path(AT_FDCWD, to, other)) return next(from, to);
  pthread_mutex_lock(&turn);
  int done = fails(RENAME) ? -1 : next(from, to);
  if (done == 0) note(RENAME, path, 0, other, strlen(other));
  pthread_mutex_unlock(&turn);
  return done;
}

int unlink(const char *given) {
  NEXT(path_call, "unlink");
  char path[PATH_MAX];
  if (!full_path(AT_FDCWD, given, path)) return next(given);
  pthread_mutex_lock(&turn);
  int done = fails(UNLINK) ? -1 : next(given);
  if (done == 0) note(UNLINK, path, 0, NULL, 0);
  pthread_mutex_unlock(&turn);
  return done;
}

/* Opening what is not there makes a file. */
static int open_through(openat_call next, int at, const char *given, int flags, mode_t mode) {
  char path[PATH_MAX];
  if ((flags & O_CREAT) == 0 || !full_path(at, given, path)) return next(at, given, flags, mode);
  pthread_mutex_lock(&turn);
  int error = errno;
  int was_there = syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0;
  errno = error;
  int fd = !was_there && fails(CREATE) ? -1 : next(at, given, flags, mode);
  if (fd >= 0 && !was_there) note(CREATE, path, 0, NULL, 0);
  else if (fd >= 0 && (flags & O_TRUNC) != 0) note(TRUNCATE, path, 0, NULL, 0);
  pthread_mutex_unlock(&turn);
  return fd;
}

#define MODE(flags, last) \
  mode_t mode = 0; \
  if (((flags) & (O_CREAT | O_TMPFILE)) != 0) { \
    va_list rest; \
    va_start(rest, last); \
    mode = (mode_t)va_arg(rest, int); \
    va_end(rest); \
  }

int open(const char *path, int flags, ...) {
  NEXT(openat_call, "openat");
  MODE(flags, flags)
  return open_through(next, AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  NEXT(openat_call, "openat64");
  MODE(flags, flags)
  return open_through(next, AT_FDCWD, path, flags, mode);
}

int openat(int at, const char *path, int flags, ...) {
  NEXT(openat_call, "openat");
  MODE(flags, flags)
  return open_through(next, at, path, flags, mode);
}

int openat64(int at, const char *path, int flags, ...) {
  NEXT(openat_call, "openat64");
  MODE(flags, flags)
  return open_through(next, at, path, flags, mode);
}

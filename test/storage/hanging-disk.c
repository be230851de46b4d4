/*
 * A disk that does not answer, as a network share whose server is gone. The dynamic linker loads it before the C library
 * (LD_PRELOAD): calls on files below HANGING_DISK_DIRECTORY come back only while there is no file HANGING_DISK_SWITCH.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NEXT(name, type) ((type)dlsym(RTLD_NEXT, #name))

static void wait_for(const char *path) {
  const char *directory = getenv("HANGING_DISK_DIRECTORY");
  const char *file = getenv("HANGING_DISK_SWITCH");
  if (path == NULL || directory == NULL || file == NULL || strncmp(path, directory, strlen(directory)) != 0) return;
  while (NEXT(access, int (*)(const char *, int))(file, F_OK) == 0) usleep(10000);
}

int access(const char *path, int mode) {
  wait_for(path);
  return NEXT(access, int (*)(const char *, int))(path, mode);
}

int mkdir(const char *path, mode_t mode) {
  wait_for(path);
  return NEXT(mkdir, int (*)(const char *, mode_t))(path, mode);
}

int unlink(const char *path) {
  wait_for(path);
  return NEXT(unlink, int (*)(const char *))(path);
}

#define OPEN(name)                                                   \
  int name(const char *path, int flags, ...) {                       \
    va_list more;                                                    \
    va_start(more, flags);                                           \
    int mode = va_arg(more, int);                                    \
    va_end(more);                                                    \
    wait_for(path);                                                  \
    return NEXT(name, int (*)(const char *, int, ...))(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

int scandir64(const char *path, struct dirent64 ***names, int (*filter)(const struct dirent64 *),
              int (*order)(const struct dirent64 **, const struct dirent64 **)) {
  wait_for(path);
  return NEXT(scandir64, int (*)(const char *, struct dirent64 ***, int (*)(const struct dirent64 *),
                                 int (*)(const struct dirent64 **, const struct dirent64 **)))(path, names, filter, order);
}

/* libuv calls statx by its number. */
long syscall(long number, ...) {
  va_list more;
  va_start(more, number);
  long a = va_arg(more, long), b = va_arg(more, long), c = va_arg(more, long);
  long d = va_arg(more, long), e = va_arg(more, long), f = va_arg(more, long);
  va_end(more);
  if (number == SYS_statx) wait_for((const char *)b);
  return NEXT(syscall, long (*)(long, ...))(number, a, b, c, d, e, f);
}

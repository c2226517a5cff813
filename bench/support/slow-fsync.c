/* Loaded before the C library (LD_PRELOAD): every fsync and fdatasync takes DELAY_US longer, as on a slower disk. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static void wait_longer(void) {
  const char *text = getenv("DELAY_US");
  long microseconds = text == NULL ? 0 : atol(text);
  struct timespec rest = { microseconds / 1000000, (microseconds % 1000000) * 1000 };
  while (nanosleep(&rest, &rest) != 0) { }
}

int fsync(int file) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  wait_longer();
  return real(file);
}

int fdatasync(int file) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  wait_longer();
  return real(file);
}

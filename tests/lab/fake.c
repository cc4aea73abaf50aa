/* Preloaded into every program of a host (/etc/ld.so.preload): answers for the kernel where namespaces cannot,
   so that a host says the same on whatever machine the lab runs.  Settings come from fake.conf:

       <kernel clock synchronised, 0 or 1> <number of CPUs or 0> <machine name or -> <clock offset in seconds>
       <milliseconds for which a write is waited for>

   The clock functions are only there when built with -DCLOCK: they make every look at the clock a system call,
   which hosts with the right time should not pay for.  They are not libfaketime because 0.9.10 breaks
   time.sleep() of Python 3.11.  Static programs see through all of this. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/utsname.h>

static int synced, cpus;
static char machine[65];
static long off, sync_ms;

__attribute__((constructor)) static void configure(void) {
  char text[200] = "", *rest, *word;
  int fd = open(HERE "/fake.conf", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (read(fd, text, sizeof text - 1) > 0) {
    if ((word = strtok_r(text, " \n", &rest))) synced = atoi(word);
    if ((word = strtok_r(NULL, " \n", &rest))) cpus = atoi(word);
    if ((word = strtok_r(NULL, " \n", &rest)) && *word != '-') strncpy(machine, word, sizeof machine - 1);
    if ((word = strtok_r(NULL, " \n", &rest))) off = atol(word);
    if ((word = strtok_r(NULL, " \n", &rest))) sync_ms = atol(word);
  }
  close(fd);
}

/* Whoever opens libc by name (ctypes.CDLL("libc.so.6")) would get past the functions below; hand out this library
   instead, which has libc behind it.  As a tail call, since dlopen() looks at who called it. */
void *dlopen(const char *name, int mode) {
  static void *(*next)(const char *, int);
  if (!next) next = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
  return next(name && !strcmp(name, "libc.so.6") ? HERE "/fake.so" : name, mode);
}

/* ------------------------------------------------------------------------ is the kernel's clock synchronised? */
int clock_adjtime(clockid_t clock, struct timex *t) {
  int rc = syscall(SYS_clock_adjtime, clock, t);
  if (rc < 0) return rc;
  t->time.tv_sec += off;
  t->status = synced ? STA_PLL : STA_PLL | STA_UNSYNC;
  t->maxerror = synced ? 50000 : 16000000;
  t->esterror = synced ? 500 : 16000000;
  return synced ? TIME_OK : TIME_ERROR;
}
int adjtimex(struct timex *t) { return clock_adjtime(CLOCK_REALTIME, t); }
int ntp_adjtime(struct timex *t) { return adjtimex(t); }
int ntp_gettimex(struct ntptimeval *v) {
  struct timex t = {0};
  int rc = adjtimex(&t);
  if (rc >= 0) *v = (struct ntptimeval){.time = t.time, .maxerror = t.maxerror, .esterror = t.esterror, .tai = t.tai};
  return rc;
}
/* The header turns ntp_gettime() into ntp_gettimex(); the symbol itself is for old programs, without `tai`. */
struct old_ntptimeval { struct timeval time; long maxerror, esterror; };
int old_ntp_gettime(struct old_ntptimeval *v) __asm__("ntp_gettime");
int old_ntp_gettime(struct old_ntptimeval *v) {
  struct ntptimeval now;
  int rc = ntp_gettimex(&now);
  if (rc >= 0) *v = (struct old_ntptimeval){now.time, now.maxerror, now.esterror};
  return rc;
}

/* ----------------------------------------------------------------------------------------- CPUs and machine name */
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set) {
  memset(set, 0, size);
  if (!cpus) return syscall(SYS_sched_getaffinity, pid, size, set) < 0 ? -1 : 0;
  for (int i = 0; i < cpus && i < (int)size * 8; i++) CPU_SET_S(i, size, set);
  return 0;
}
int uname(struct utsname *u) {
  int rc = syscall(SYS_uname, u);
  if (!rc && *machine) strcpy(u->machine, machine);
  return rc;
}

/* -------------------------------------------------------------------------------------------------- a slow disk */
static void wait_for_disk(void) {
  struct timespec t = {sync_ms / 1000, sync_ms % 1000 * 1000000};
  if (sync_ms) syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &t, NULL);
}
int fdatasync(int fd) { wait_for_disk(); return syscall(SYS_fdatasync, fd); }
int fsync(int fd) { wait_for_disk(); return syscall(SYS_fsync, fd); }

/* --------------------------------------------------------------------------------------------- a clock that is off */
#ifdef CLOCK
static int wall(clockid_t c) { return c == CLOCK_REALTIME || c == CLOCK_REALTIME_COARSE || c == CLOCK_TAI; }
static struct timespec real(const struct timespec *t) { struct timespec r = *t; r.tv_sec -= off; return r; }

int clock_gettime(clockid_t clock, struct timespec *t) {
  int rc = syscall(SYS_clock_gettime, clock, t);
  if (!rc && wall(clock)) t->tv_sec += off;
  return rc;
}
time_t time(time_t *p) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME_COARSE, &t);
  if (p) *p = t.tv_sec;
  return t.tv_sec;
}
int gettimeofday(struct timeval *restrict v, void *restrict zone) {
  int rc = syscall(SYS_gettimeofday, v, zone);
  if (!rc && v) v->tv_sec += off;
  return rc;
}
int timespec_get(struct timespec *t, int base) { return clock_gettime(CLOCK_REALTIME, t) ? 0 : base; }

/* Who waits until a time of day waits until that time on the host's clock. */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *t, struct timespec *left) {
  struct timespec r = wall(clock) && (flags & TIMER_ABSTIME) ? real(t) : *t;
  return syscall(SYS_clock_nanosleep, clock, flags, &r, left) ? errno : 0;
}
int sem_timedwait(sem_t *restrict s, const struct timespec *restrict t) {
  struct timespec r = real(t);
  return sem_clockwait(s, CLOCK_REALTIME, &r);
}
int pthread_cond_timedwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m, const struct timespec *restrict t) {
  struct timespec r = real(t);
  /* the condition's own clock cannot be asked for; a small number is a time since boot */
  return t->tv_sec > 1000000000 ? pthread_cond_clockwait(c, m, CLOCK_REALTIME, &r)
                                : pthread_cond_clockwait(c, m, CLOCK_MONOTONIC, t);
}
#endif

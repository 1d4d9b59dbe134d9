/* Faults on command: a library that a test loads into a child with LD_PRELOAD.
 *
 * It stands between the program and the C library wherever files are changed, counts what goes
 * by, and at the chosen operation kills the process, returns an error or cuts the power.
 * `src/shim.rs` compiles it and describes the environment variables that steer it.
 *
 * What it keeps true:
 * - Only paths that contain ARTEL_FAULT_PATH count; everything else passes untouched.
 * - The library itself reaches the kernel by plain system calls, so it never counts itself.
 * - It concerns this process alone: its variables are taken out of the environment, so programs
 *   that the process starts run without it.
 * - A descriptor's path is asked of /proc each time, so duplicates, renames and inherited
 *   descriptors are right without a table of our own.
 *
 * What it does not see: files changed through memory maps, and code that makes system calls
 * without the C library, such as rustix without its feature `use-libc`.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#if !defined(__linux__) || !defined(__LP64__)
#error "the shim is for 64-bit Linux"
#endif

enum kind { OPEN, WRITE, SYNC, TRUNCATE, RENAME, UNLINK, MKDIR, LINK, ANY };

static const char *const kind_names[] = {"open",   "write",  "sync",  "truncate", "rename",
                                         "unlink", "mkdir",  "link",  "any"};

enum action { NOTHING, KILL_BEFORE, KILL_AFTER, FAIL, TORN, SHORT, POWER_CUT };

static const struct {
    const char *name;
    enum action action;
    int error;
} actions[] = {
    {"kill-before", KILL_BEFORE, 0}, {"kill-after", KILL_AFTER, 0}, {"enospc", FAIL, ENOSPC},
    {"edquot", FAIL, EDQUOT},        {"eio", FAIL, EIO},            {"erofs", FAIL, EROFS},
    {"torn", TORN, 0},               {"short", SHORT, 0},           {"power-cut", POWER_CUT, 0},
};

/* What the environment asked for; set once before the program begins. */
static struct {
    const char *path; /* part of the paths that count; NULL while nothing does */
    const char *off;  /* a file whose existence ends the fault */
    const char *name; /* the action, as the log spells it */
    enum kind kind;
    enum kind then; /* what the fault happens to, where that is not what is counted */
    enum action action;
    int error;
    int persists;
    unsigned long nth;
    uint64_t seed;
    int log;
} plan = {.log = -1};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long seen; /* operations of the plan's kind so far; under the lock */

static void refuse(const char *why, const char *value) {
    char line[512];
    int count = snprintf(line, sizeof line, "fault shim: %s: %s\n", why, value);
    if (syscall(SYS_write, 2, line, count) < 0) { /* there is nobody left to tell */
    }
    syscall(SYS_exit_group, 98);
}

static void die(void) {
    for (;;) {
        syscall(SYS_kill, getpid(), SIGKILL);
    }
}

static int exists(const char *path) {
    return syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0;
}

static int is_counted(const char *path) { return strstr(path, plan.path) != NULL; }

/* Finds out which file a descriptor means, and whether that counts. */
static int counts_fd(int fd, char path[PATH_MAX]) {
    if (plan.path == NULL) {
        return 0;
    }
    int before = errno;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    errno = before;
    if (length <= 0 || path[0] != '/') {
        return 0;
    }
    path[length] = '\0';
    return is_counted(path);
}

/* Makes a name absolute, and tells whether that counts. */
static int counts_name(int folder, const char *name, char path[PATH_MAX]) {
    if (plan.path == NULL || name == NULL) {
        return 0;
    }
    int before = errno;
    char link[64];
    long length = 0;
    if (name[0] != '/') {
        snprintf(link, sizeof link, folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d",
                 folder);
        length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
        length = length < 0 ? 0 : length;
    }
    snprintf(path + length, PATH_MAX - length, "%s%s", length > 0 ? "/" : "", name);
    errno = before;
    return is_counted(path);
}

/* With `any`, an error goes only to operations that can really fail that way. */
static int suits(enum kind kind, int opens_for_writing, int creates) {
    switch (plan.error) {
    case ENOSPC:
    case EDQUOT:
        return kind == WRITE || kind == MKDIR || kind == LINK || (kind == OPEN && creates);
    case EROFS:
        return kind == OPEN ? opens_for_writing : kind != SYNC;
    default:
        return 1;
    }
}

static enum action due(enum kind kind, int opens_for_writing, int creates) {
    if (plan.action == NOTHING) {
        return NOTHING;
    }
    if (plan.then != ANY) {
        /* One sort is counted, and from then on another one is hit. */
        seen += kind == plan.kind;
        if (kind != plan.then || seen < plan.nth) {
            return NOTHING;
        }
    } else {
        if (plan.kind != ANY && plan.kind != kind) {
            return NOTHING;
        }
        seen++;
        if (plan.persists ? seen < plan.nth : seen != plan.nth) {
            return NOTHING;
        }
    }
    if (plan.off != NULL && exists(plan.off)) {
        return NOTHING;
    }
    if (plan.action == FAIL && plan.kind == ANY && !suits(kind, opens_for_writing, creates)) {
        return NOTHING;
    }
    return plan.action == SHORT && kind != WRITE ? NOTHING : plan.action;
}

static void note(const char *kind, const char *what, const char *rest) {
    if (plan.log < 0) {
        return;
    }
    char line[PATH_MAX + 64];
    int count = snprintf(line, sizeof line, "%s %s %s\n", kind, what, rest);
    if (syscall(SYS_write, plan.log, line, count) != count) {
        refuse("cannot write the counts", strerror(errno));
    }
}

static void cut_power(void);

/* Counts an operation and returns what is to become of it. Whoever calls it calls `leave` too. The
 * power-cut model must see one operation at a time, so there the lock is held until then. */
static enum action arrive_to(enum kind kind, const char *path, int opens_for_writing, int creates) {
    int before = errno;
    pthread_mutex_lock(&lock);
    enum action action = due(kind, opens_for_writing, creates);
    note(kind_names[kind], action == NOTHING ? "-" : plan.name, path);
    if (action == KILL_BEFORE || (action == TORN && kind != WRITE)) {
        die();
    }
    if (action == POWER_CUT && kind != WRITE) {
        cut_power();
    }
    if (plan.action != POWER_CUT) {
        pthread_mutex_unlock(&lock);
    }
    errno = before;
    return action;
}

static enum action arrive(enum kind kind, const char *path) {
    return arrive_to(kind, path, 0, 0);
}

static void leave(enum action action) {
    if (action == KILL_AFTER) {
        die();
    }
    if (plan.action == POWER_CUT) {
        pthread_mutex_unlock(&lock);
    }
}

/* ---- The power-cut model ------------------------------------------------------------------
 *
 * Since the last sync of a file, every write and every shortening of it is remembered with what
 * stood there before. When the power goes, each file is first taken back to its last sync, and
 * then every change is made again in whole, in part or not at all, as the seed decides. The
 * changes are judged one by one, so later ones may survive without earlier ones: that is what
 * reordering looks like from outside.
 *
 * Simple on purpose: names are not undone (creations, renames and removals stay), and the files
 * are taken to be written by this process alone. SQLite's `-shm` is left alone, for it is shared
 * memory and not data.
 */

struct change {
    int shortens; /* a truncation to `at`, else `count` bytes written at `at` */
    off_t at;
    size_t count;
    char *bytes;
    off_t old_size;
    size_t old_count;
    char *old_bytes;
};

struct file {
    dev_t device;
    ino_t inode;
    int fd; /* never closed: closing any descriptor of a file drops the process's locks on it */
    struct change *changes;
    size_t count;
    size_t room;
};

static struct file *files;
static size_t file_count, file_room;

static void *grown(void *items, size_t *room, size_t size) {
    *room = *room == 0 ? 16 : *room * 2;
    items = realloc(items, *room * size);
    if (items == NULL) {
        refuse("out of memory", "undo log");
    }
    return items;
}

static struct file *find_file(const struct stat *about) {
    for (size_t at = 0; at < file_count; at++) {
        if (files[at].device == about->st_dev && files[at].inode == about->st_ino) {
            return &files[at];
        }
    }
    return NULL;
}

/* Begins to follow a file; `name` opens it anew, so that it can be read whatever the caller asked. */
static struct file *follow(const struct stat *about, const char *name) {
    struct file *known = find_file(about);
    if (known != NULL) {
        return known;
    }
    int fd = syscall(SYS_openat, AT_FDCWD, name, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        refuse("cannot follow a file", strerror(errno));
    }
    if (file_count == file_room) {
        files = grown(files, &file_room, sizeof *files);
    }
    files[file_count] = (struct file){.device = about->st_dev, .inode = about->st_ino, .fd = fd};
    return &files[file_count++];
}

static char *copied(const void *bytes, size_t count) {
    char *copy = malloc(count + 1);
    if (copy == NULL) {
        refuse("out of memory", "undo log");
    }
    return bytes == NULL ? copy : memcpy(copy, bytes, count);
}

/* Remembers a change that is about to happen, with the bytes from `at` that it will cost. */
static void remember(struct file *file, struct change change, off_t size, size_t losing) {
    off_t there = size > change.at ? size - change.at : 0;
    change.old_size = size;
    change.old_count = (off_t)losing < there ? losing : (size_t)there;
    change.old_bytes = copied(NULL, change.old_count);
    if (pread(file->fd, change.old_bytes, change.old_count, change.at) != (ssize_t)change.old_count) {
        refuse("cannot read what would be lost", strerror(errno));
    }
    if (file->count == file->room) {
        file->changes = grown(file->changes, &file->room, sizeof *file->changes);
    }
    file->changes[file->count++] = change;
}

static void forget(struct file *file, size_t from) {
    while (file->count > from) {
        file->count--;
        free(file->changes[file->count].bytes);
        free(file->changes[file->count].old_bytes);
    }
}

static int is_data(const struct stat *about, const char *path) {
    size_t length = strlen(path);
    return S_ISREG(about->st_mode) && !(length >= 4 && strcmp(path + length - 4, "-shm") == 0);
}

static struct file *follow_fd(int fd, const char *path, struct stat *about) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return fstat(fd, about) == 0 && is_data(about, path) ? follow(about, link) : NULL;
}

static uint64_t draw(void) { /* splitmix64 */
    uint64_t mixed = plan.seed += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
}

static void put(int fd, const char *bytes, size_t count, off_t at) {
    while (count > 0) {
        long done = syscall(SYS_pwrite64, fd, bytes, count, at);
        if (done <= 0) {
            refuse("cannot cut the power", strerror(errno));
        }
        bytes += done;
        count -= done;
        at += done;
    }
}

static void resize(int fd, off_t size) {
    if (syscall(SYS_ftruncate, fd, size) != 0) {
        refuse("cannot cut the power", strerror(errno));
    }
}

enum fate { DROPPED, HALVED, KEPT };

static enum fate make_again(int fd, const struct change *change) {
    enum fate fate = draw() % 3;
    if (fate == DROPPED) {
        return fate;
    }
    if (change->shortens) {
        resize(fd, change->at);
        return KEPT;
    }
    size_t part = fate == HALVED && change->count > 0 ? draw() % change->count : change->count;
    put(fd, change->bytes, part, change->at);
    return fate;
}

static void cut_power(void) {
    unsigned long fates[3] = {0};
    for (struct file *file = files; file < files + file_count; file++) {
        for (size_t at = file->count; at-- > 0;) {
            struct change *change = &file->changes[at];
            put(file->fd, change->old_bytes, change->old_count, change->at);
            resize(file->fd, change->old_size);
        }
        for (size_t at = 0; at < file->count; at++) {
            fates[make_again(file->fd, &file->changes[at])]++;
        }
    }
    char rest[96];
    snprintf(rest, sizeof rest, "%lu %lu %lu", fates[KEPT], fates[DROPPED], fates[HALVED]);
    note("cut", "-", rest);
    die();
}

/* ---- Writes ------------------------------------------------------------------------------- */

#define AT_POSITION ((off_t)-1)

static ssize_t plain_write(int fd, const void *bytes, size_t count, off_t at) {
    return at == AT_POSITION ? syscall(SYS_write, fd, bytes, count)
                             : syscall(SYS_pwrite64, fd, bytes, count, at);
}

static ssize_t undoable_write(int fd, const char *path, const void *bytes, size_t count, off_t at) {
    struct stat about;
    struct file *file = follow_fd(fd, path, &about);
    if (file == NULL) {
        return plain_write(fd, bytes, count, at);
    }
    int flags = fcntl(fd, F_GETFL);
    off_t place = flags & O_APPEND ? about.st_size : at == AT_POSITION ? lseek(fd, 0, SEEK_CUR) : at;
    struct change change = {.at = place, .count = count, .bytes = copied(bytes, count)};
    remember(file, change, about.st_size, count);
    ssize_t done = plain_write(fd, bytes, count, at);
    if (done < 0) {
        int cause = errno;
        forget(file, file->count - 1);
        errno = cause;
    } else {
        file->changes[file->count - 1].count = done;
        if (flags & (O_SYNC | O_DSYNC)) {
            forget(file, 0);
        }
    }
    return done;
}

static ssize_t counted_write(int fd, const void *bytes, size_t count, off_t at) {
    char path[PATH_MAX];
    if (!counts_fd(fd, path)) {
        return plain_write(fd, bytes, count, at);
    }
    enum action action = arrive(WRITE, path);
    ssize_t done;
    if (action == FAIL) {
        errno = plan.error;
        done = -1;
    } else if (plan.action == POWER_CUT) {
        done = undoable_write(fd, path, bytes, count, at);
    } else {
        int halves = action == TORN || (action == SHORT && count > 1);
        done = plain_write(fd, bytes, halves ? count / 2 : count, at);
    }
    if (action == TORN) {
        die();
    }
    if (action == POWER_CUT) {
        cut_power();
    }
    leave(action);
    return done;
}

static ssize_t gathered_write(int fd, const struct iovec *parts, int part_count, off_t at) {
    char path[PATH_MAX];
    if (!counts_fd(fd, path)) {
        return at == AT_POSITION ? syscall(SYS_writev, fd, parts, part_count)
                                 : syscall(SYS_pwritev, fd, parts, part_count, at, 0L);
    }
    size_t count = 0;
    for (int part = 0; part < part_count; part++) {
        count += parts[part].iov_len;
    }
    char *bytes = copied(NULL, count), *end = bytes;
    for (int part = 0; part < part_count; part++) {
        end = mempcpy(end, parts[part].iov_base, parts[part].iov_len);
    }
    ssize_t done = counted_write(fd, bytes, count, at);
    int cause = errno;
    free(bytes);
    errno = cause;
    return done;
}

ssize_t write(int fd, const void *bytes, size_t count) {
    return counted_write(fd, bytes, count, AT_POSITION);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) {
    if (at < 0) {
        errno = EINVAL;
        return -1;
    }
    return counted_write(fd, bytes, count, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t at)
    __attribute__((alias("pwrite")));

ssize_t writev(int fd, const struct iovec *parts, int count) {
    return gathered_write(fd, parts, count, AT_POSITION);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
    if (at < 0) {
        errno = EINVAL;
        return -1;
    }
    return gathered_write(fd, parts, count, at);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off_t at)
    __attribute__((alias("pwritev")));

/* Copies inside the kernel are refused, so that callers fall back to writes, which are counted. */
#define REFUSE_COPY(fd)                                                                            \
    char path[PATH_MAX];                                                                           \
    if (counts_fd(fd, path)) {                                                                     \
        errno = ENOSYS;                                                                            \
        return -1;                                                                                 \
    }

ssize_t copy_file_range(int from, off_t *from_at, int to, off_t *to_at, size_t count,
                        unsigned flags) {
    REFUSE_COPY(to)
    return syscall(SYS_copy_file_range, from, from_at, to, to_at, count, flags);
}

ssize_t sendfile(int to, int from, off_t *from_at, size_t count) {
    REFUSE_COPY(to)
    return syscall(SYS_sendfile, to, from, from_at, count);
}

ssize_t sendfile64(int to, int from, off_t *from_at, size_t count)
    __attribute__((alias("sendfile")));

ssize_t splice(int from, off_t *from_at, int to, off_t *to_at, size_t count, unsigned flags) {
    REFUSE_COPY(to)
    return syscall(SYS_splice, from, from_at, to, to_at, count, flags);
}

/* ---- Everything else ----------------------------------------------------------------------- */

/* Makes `call` one counted operation; its value is the call's result. */
#define COUNTED(arrival, call)                                                                     \
    ({                                                                                             \
        enum action action = arrival;                                                              \
        long result = -1;                                                                          \
        if (action == FAIL) {                                                                      \
            errno = plan.error;                                                                    \
        } else {                                                                                   \
            result = call;                                                                         \
        }                                                                                          \
        leave(action);                                                                             \
        result;                                                                                    \
    })

static long synced(int fd, long number) {
    long result = syscall(number, fd);
    struct stat about;
    if (result == 0 && plan.action == POWER_CUT && fstat(fd, &about) == 0) {
        struct file *file = find_file(&about);
        if (file != NULL) {
            forget(file, 0);
        }
    }
    return result;
}

int fsync(int fd) {
    char path[PATH_MAX];
    return counts_fd(fd, path) ? COUNTED(arrive(SYNC, path), synced(fd, SYS_fsync))
                               : syscall(SYS_fsync, fd);
}

int fdatasync(int fd) {
    char path[PATH_MAX];
    return counts_fd(fd, path) ? COUNTED(arrive(SYNC, path), synced(fd, SYS_fdatasync))
                               : syscall(SYS_fdatasync, fd);
}

static void remember_truncation(struct file *file, off_t old_size, off_t size) {
    struct change change = {.shortens = 1, .at = size};
    remember(file, change, old_size, old_size > size ? old_size - size : 0);
}

static long truncated(int fd, const char *path, off_t size) {
    struct stat about;
    struct file *file = plan.action == POWER_CUT ? follow_fd(fd, path, &about) : NULL;
    if (file != NULL && size >= 0) {
        remember_truncation(file, about.st_size, size);
    }
    long result = syscall(SYS_ftruncate, fd, size);
    if (result != 0 && file != NULL && size >= 0) {
        int cause = errno;
        forget(file, file->count - 1);
        errno = cause;
    }
    return result;
}

int ftruncate(int fd, off_t size) {
    char path[PATH_MAX];
    return counts_fd(fd, path) ? COUNTED(arrive(TRUNCATE, path), truncated(fd, path, size))
                               : syscall(SYS_ftruncate, fd, size);
}

int ftruncate64(int fd, off_t size) __attribute__((alias("ftruncate")));

static long opened(int folder, const char *name, const char *path, int flags, mode_t mode) {
    struct stat about;
    struct file *file = NULL;
    if (plan.action == POWER_CUT && (flags & O_TRUNC) && (flags & O_ACCMODE) != O_RDONLY &&
        stat(path, &about) == 0 && is_data(&about, path)) {
        file = follow(&about, path);
        remember_truncation(file, about.st_size, 0);
    }
    long result = syscall(SYS_openat, folder, name, flags, mode);
    if (result < 0 && file != NULL) {
        int cause = errno;
        forget(file, file->count - 1);
        errno = cause;
    }
    return result;
}

static int counted_open(int folder, const char *name, int flags, mode_t mode) {
    char path[PATH_MAX];
    if (!counts_name(folder, name, path)) {
        return syscall(SYS_openat, folder, name, flags, mode);
    }
    int for_writing = (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT);
    int creates = (flags & O_TMPFILE) == O_TMPFILE || ((flags & O_CREAT) && !exists(path));
    return COUNTED(arrive_to(OPEN, path, for_writing, creates),
                   opened(folder, name, path, flags, mode));
}

#define MODE_OF(flags, last)                                                                       \
    mode_t mode = 0;                                                                               \
    if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE) {                                   \
        va_list rest;                                                                              \
        va_start(rest, last);                                                                      \
        mode = va_arg(rest, mode_t);                                                               \
        va_end(rest);                                                                              \
    }

int open(const char *name, int flags, ...) {
    MODE_OF(flags, flags)
    return counted_open(AT_FDCWD, name, flags, mode);
}

int openat(int folder, const char *name, int flags, ...) {
    MODE_OF(flags, flags)
    return counted_open(folder, name, flags, mode);
}

int creat(const char *name, mode_t mode) {
    return counted_open(AT_FDCWD, name, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int open64(const char *name, int flags, ...) __attribute__((alias("open")));
int openat64(int folder, const char *name, int flags, ...) __attribute__((alias("openat")));
int creat64(const char *name, mode_t mode) __attribute__((alias("creat")));

/* What hardened builds call instead when no mode is given. */
int __open_2(const char *name, int flags) { return counted_open(AT_FDCWD, name, flags, 0); }
int __open64_2(const char *name, int flags) __attribute__((alias("__open_2")));
int __openat_2(int folder, const char *name, int flags) {
    return counted_open(folder, name, flags, 0);
}
int __openat64_2(int folder, const char *name, int flags) __attribute__((alias("__openat_2")));

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
    char from_path[PATH_MAX], path[PATH_MAX];
    int counts = counts_name(from_folder, from, from_path);
    counts |= counts_name(to_folder, to, path);
#define RENAME_CALL syscall(SYS_renameat2, from_folder, from, to_folder, to, flags)
    return counts ? COUNTED(arrive(RENAME, path), RENAME_CALL) : RENAME_CALL;
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    return renameat2(from_folder, from, to_folder, to, 0);
}

int rename(const char *from, const char *to) {
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlinkat(int folder, const char *name, int flags) {
    char path[PATH_MAX];
    return counts_name(folder, name, path)
               ? COUNTED(arrive(UNLINK, path), syscall(SYS_unlinkat, folder, name, flags))
               : syscall(SYS_unlinkat, folder, name, flags);
}

int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }

int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }

int mkdirat(int folder, const char *name, mode_t mode) {
    char path[PATH_MAX];
    return counts_name(folder, name, path)
               ? COUNTED(arrive(MKDIR, path), syscall(SYS_mkdirat, folder, name, mode))
               : syscall(SYS_mkdirat, folder, name, mode);
}

int mkdir(const char *name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    char path[PATH_MAX];
#define LINK_CALL syscall(SYS_linkat, from_folder, from, to_folder, to, flags)
    return counts_name(to_folder, to, path) ? COUNTED(arrive(LINK, path), LINK_CALL) : LINK_CALL;
}

int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int symlinkat(const char *target, int folder, const char *name) {
    char path[PATH_MAX];
    return counts_name(folder, name, path)
               ? COUNTED(arrive(LINK, path), syscall(SYS_symlinkat, target, folder, name))
               : syscall(SYS_symlinkat, target, folder, name);
}

int symlink(const char *target, const char *name) { return symlinkat(target, AT_FDCWD, name); }

/* ---- Beginning ----------------------------------------------------------------------------- */

/* Takes a variable out of the environment, so that it ends with this process. */
static const char *take(const char *name) {
    const char *value = getenv(name);
    const char *copy = value == NULL ? NULL : strdup(value);
    unsetenv(name);
    return copy;
}

/* Returns the sort of operation that has this name, `any` for every other one. */
static enum kind kind_named(const char *name) {
    enum kind kind = OPEN;
    while (kind < ANY && strcmp(name, kind_names[kind]) != 0) {
        kind++;
    }
    return kind;
}

/* Reads `<op>:<n>[+]:<action>[:<seed>]`. A number of 0 is for what comes before the first one. */
static void read_fault(const char *text) {
    char kind[16], action[16], plus[2] = "";
    unsigned long long seed = 0;
    int read = sscanf(text, "%15[a-z]:%lu%1[+]:%15[a-z-]:%llu", kind, &plan.nth, plus, action, &seed);
    if (read < 4) {
        read = sscanf(text, "%15[a-z]:%lu:%15[a-z-]:%llu", kind, &plan.nth, action, &seed) + 1;
    }
    plan.persists = plus[0] == '+';
    plan.seed = seed;
    plan.kind = kind_named(kind);
    for (size_t at = 0; read >= 4 && at < sizeof actions / sizeof *actions; at++) {
        if (strcmp(action, actions[at].name) == 0) {
            plan.name = actions[at].name;
            plan.action = actions[at].action;
            plan.error = actions[at].error;
        }
    }
    if (plan.action == NOTHING || (plan.nth == 0 && plan.then == ANY) || strcmp(kind, kind_names[plan.kind]) != 0 ||
        (plan.action == POWER_CUT) != (read == 5)) {
        refuse("ARTEL_FAULT makes no sense", text);
    }
}

/* The log's descriptor is moved out of the way of the program's own. */
static void open_log(const char *path) {
    int fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC,
                     0600);
    if (fd < 0) {
        refuse("ARTEL_FAULT_COUNT cannot be written", path);
    }
    int high = fcntl(fd, F_DUPFD_CLOEXEC, 500);
    if (high >= 0) {
        syscall(SYS_close, fd);
    }
    plan.log = high >= 0 ? high : fd;
}

__attribute__((constructor)) static void begin(void) {
    const char *path = take("ARTEL_FAULT_PATH");
    const char *fault = take("ARTEL_FAULT");
    const char *then = take("ARTEL_FAULT_THEN");
    const char *count = take("ARTEL_FAULT_COUNT");
    plan.off = take("ARTEL_FAULT_OFF");
    unsetenv("LD_PRELOAD");
    if (fault == NULL && count == NULL) {
        return;
    }
    if (path == NULL || path[0] == '\0') {
        refuse("ARTEL_FAULT_PATH is missing", "");
    }
    plan.then = ANY;
    if (then != NULL) {
        plan.then = kind_named(then);
    }
    if (fault != NULL) {
        read_fault(fault);
    }
    if (count != NULL) {
        open_log(count);
    }
    plan.path = path;
}

//! System calls without a safe wrapper elsewhere, each as a small safe function.
#![expect(
    unsafe_code,
    reason = "clone, wait4, mount_setattr, signalfd and interface requests have no safe wrapper"
)]

use std::ffi::CStr;
use std::io;
use std::mem::{MaybeUninit, zeroed};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

pub(crate) enum ForkSide {
    /// The new process.
    Child,
    /// The parent, with the child's process id and a descriptor for it.
    Parent { pid: i32, pidfd: OwnedFd },
}

/// The end of a child: its status, and the resources that it and its own children used.
pub(crate) struct EndedChild {
    pub(crate) pid: i32,
    pub(crate) status: i32,
    pub(crate) cpu: Duration,
    /// Peak memory of the largest process, in bytes.
    pub(crate) largest: u64,
}

/// Creates a child process in new namespaces, otherwise like `fork`.
///
/// It uses `clone` rather than the newer `clone3`: filters can look at the flags of the
/// former, so a machine that forbids namespaces returns an error instead of killing us.
pub(crate) fn clone_into(namespaces: libc::c_int) -> io::Result<ForkSide> {
    let mut pidfd: libc::c_int = -1;
    let flags = namespaces | libc::CLONE_PIDFD | libc::SIGCHLD;
    let no = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: without CLONE_VM the child has a copy of everything, so no memory is shared; the
    // starter has a single thread, so no lock is held by a thread that the child lacks. The third
    // argument points to a live integer, which CLONE_PIDFD fills in the parent.
    let pid = unsafe {
        libc::syscall(
            libc::SYS_clone,
            libc::c_long::from(flags),
            no,
            &raw mut pidfd,
            no,
            no,
        )
    };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(ForkSide::Child),
        pid => Ok(ForkSide::Parent {
            pid: i32::try_from(pid).map_err(io::Error::other)?,
            // SAFETY: the kernel has just opened this descriptor for us, so nobody else owns
            // it.
            pidfd: unsafe { OwnedFd::from_raw_fd(pidfd) },
        }),
    }
}

/// Waits for a child, or checks whether one has ended, depending on the options. Returns
/// `None` if none has.
pub(crate) fn wait(pid: i32, options: libc::c_int) -> io::Result<Option<EndedChild>> {
    let mut status = 0;
    // SAFETY: an all-zero `rusage` is a valid value.
    let mut usage: libc::rusage = unsafe { zeroed() };
    loop {
        // SAFETY: both pointers are to live values of the right types.
        let got = unsafe { libc::wait4(pid, &raw mut status, options, &raw mut usage) };
        if got == -1 {
            let error = io::Error::last_os_error();
            if error.kind() == io::ErrorKind::Interrupted {
                continue;
            }
            return Err(error);
        }
        return Ok((got != 0).then(|| EndedChild {
            pid: got,
            status,
            cpu: duration(usage.ru_utime) + duration(usage.ru_stime),
            largest: u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024,
        }));
    }
}

/// Returns the processor time and the largest process, in bytes, of all reaped children.
pub(crate) fn used_by_children() -> (Duration, u64) {
    // SAFETY: an all-zero `rusage` is a valid value, and the pointer is to a live one.
    let usage = unsafe {
        let mut usage: libc::rusage = zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    let cpu = duration(usage.ru_utime) + duration(usage.ru_stime);
    (cpu, u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024)
}

fn duration(time: libc::timeval) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let micros = u64::try_from(time.tv_usec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_micros(micros)
}

/// Closes every descriptor from this number on.
pub(crate) fn close_from(first: u32) -> io::Result<()> {
    // SAFETY: called before we opened any descriptor from `first` on, so no owner in this
    // process loses one.
    done(unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0_u32) })
}

/// Sets attributes of a mount, and of everything mounted below it if `flags` say so.
/// Attributes are only ever added, so anything the host has locked stays as strict as it
/// was.
pub(crate) fn mount_setattr(mount: BorrowedFd<'_>, flags: libc::c_int, set: u64) -> io::Result<()> {
    // SAFETY: an all-zero `mount_attr` is the kernel's documented "change nothing".
    let mut attributes: libc::mount_attr = unsafe { zeroed() };
    attributes.attr_set = set;
    let empty: &CStr = c"";
    // SAFETY: the path is a terminated string and the size is that of the structure.
    done(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            empty.as_ptr(),
            flags | libc::AT_EMPTY_PATH,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    })
}

/// Moves the old root to the mount point of the new one, to be detached at once.
pub(crate) fn pivot_root_here() -> io::Result<()> {
    let here: &CStr = c".";
    // SAFETY: both arguments are terminated strings.
    done(unsafe { libc::syscall(libc::SYS_pivot_root, here.as_ptr(), here.as_ptr()) })
}

/// Blocks SIGCHLD and returns a descriptor that reports ended children instead.
pub(crate) fn children_fd() -> io::Result<OwnedFd> {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigemptyset` initialises the set that the other calls then read; the returned
    // descriptor is new and ours alone.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGCHLD);
        if libc::sigprocmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut()) == -1 {
            return Err(io::Error::last_os_error());
        }
        let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
        let fd = libc::signalfd(-1, set.as_ptr(), flags);
        if fd == -1 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Sends a signal. Negative targets mean groups or all processes, as in `kill`.
pub(crate) fn kill(target: i32, signal: i32) -> io::Result<()> {
    // SAFETY: no memory is involved.
    done(libc::c_long::from(unsafe { libc::kill(target, signal) }))
}

pub(crate) fn loopback_up(socket: BorrowedFd<'_>) -> io::Result<()> {
    let mut request = interface("lo");
    let up = libc::c_short::try_from(libc::IFF_UP | libc::IFF_RUNNING).unwrap_or(1);
    request.ifr_ifru.ifru_flags = up;
    ioctl(socket, libc::SIOCSIFFLAGS, &raw mut request)
}

/// Adds an address to the loopback interface; `alias` keeps several apart.
pub(crate) fn add_address_v4(
    socket: BorrowedFd<'_>,
    alias: usize,
    address: Ipv4Addr,
) -> io::Result<()> {
    let mut request = interface(&format!("lo:{alias}"));
    request.ifr_ifru.ifru_addr = sockaddr_v4(address);
    ioctl(socket, libc::SIOCSIFADDR, &raw mut request)?;
    // The address class would decide how wide the route is, so it is set to this one address.
    request.ifr_ifru.ifru_netmask = sockaddr_v4(Ipv4Addr::BROADCAST);
    ioctl(socket, libc::SIOCSIFNETMASK, &raw mut request)
}

/// Adds an address to the loopback interface.
pub(crate) fn add_address_v6(socket: BorrowedFd<'_>, address: Ipv6Addr) -> io::Result<()> {
    let mut request = libc::in6_ifreq {
        ifr6_addr: libc::in6_addr {
            s6_addr: address.octets(),
        },
        ifr6_prefixlen: 128,
        ifr6_ifindex: 1,
    };
    ioctl(socket, libc::SIOCSIFADDR, &raw mut request)
}

fn sockaddr_v4(address: Ipv4Addr) -> libc::sockaddr {
    let mut data = [0; 14];
    for (place, byte) in data[2..6].iter_mut().zip(address.octets()) {
        *place = libc::c_char::from_ne_bytes([byte]);
    }
    libc::sockaddr {
        sa_family: libc::sa_family_t::try_from(libc::AF_INET).unwrap_or_default(),
        sa_data: data,
    }
}

fn interface(name: &str) -> libc::ifreq {
    // SAFETY: an all-zero `ifreq` is a valid value: an empty name and no data.
    let mut request: libc::ifreq = unsafe { zeroed() };
    let last = request.ifr_name.len() - 1;
    for (place, byte) in request.ifr_name[..last].iter_mut().zip(name.bytes()) {
        *place = libc::c_char::from_ne_bytes([byte]);
    }
    request
}

/// The type of the request number differs between C libraries, hence its own parameter
/// type.
fn ioctl<T>(socket: BorrowedFd<'_>, request: libc::c_ulong, value: *mut T) -> io::Result<()> {
    // SAFETY: each caller passes the structure that this request reads, alive and initialised.
    done(libc::c_long::from(unsafe {
        libc::ioctl(socket.as_fd().as_raw_fd(), request, value)
    }))
}

fn done(result: libc::c_long) -> io::Result<()> {
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Returns the Landlock version of this kernel, or zero if it has none.
pub(crate) fn landlock_version() -> u32 {
    const ASK_VERSION: u32 = 1;
    let nothing = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag the kernel reads no structure, only the two zeroes.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            nothing,
            0_usize,
            ASK_VERSION,
        )
    };
    u32::try_from(version).unwrap_or(0)
}

/// Moves this process into a new namespace of this kind. Only a single-threaded process
/// may do so.
pub(crate) fn unshare(namespaces: libc::c_int) -> io::Result<()> {
    // SAFETY: namespaces are not memory; descriptors stay shared as they are.
    done(libc::c_long::from(unsafe { libc::unshare(namespaces) }))
}

/// Tries to trace a process that cannot exist, and returns the error: only a filter
/// forbids the attempt itself.
pub(crate) fn trace_nobody() -> io::Error {
    let nothing = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: there is no process zero, so nothing is read or written.
    unsafe { libc::ptrace(libc::PTRACE_PEEKDATA, 0, nothing, nothing) };
    io::Error::last_os_error()
}

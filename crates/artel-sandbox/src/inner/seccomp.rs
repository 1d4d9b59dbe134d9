//! The system call filter: leaves few ways into the kernel beyond those that programs
//! need.
//!
//! It lists refusals rather than permissions: a build tool must not break because it uses
//! a call newer than this code, and the other walls hold against calls that are merely
//! unknown. Two filters are stacked: one by number, one that looks at arguments.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen as Width, SeccompCmpOp as Op,
    SeccompCondition, SeccompFilter, SeccompRule, apply_filter,
};

use super::search;
use super::step::SandboxStepError;

/// Calls that are refused whatever their arguments.
const REFUSED: &[c_long] = &[
    // Access to other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    // io_uring, whose rings bypass every other filter.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // The kernel itself.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_syslog,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_nfsservctl,
    libc::SYS_vhangup,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    // Files by handle, and watching files of others.
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_lookup_dcookie,
    // Kernel keys.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
];

/// Refused calls that exist on one architecture only.
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[c_long] = &[
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_uselib,
    libc::SYS_ustat,
    libc::SYS_sysfs,
    libc::SYS__sysctl,
];
/// Refused calls that exist on one architecture only.
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[c_long] = &[];

/// Flags that create namespaces.
const NAMESPACES: &[libc::c_int] = &[
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// The flag for time namespaces, which `clone` would read as part of a signal.
const NEW_TIME: u64 = 0x80;

/// Calls that set a file's permissions, and the position of that argument.
const PERMISSIONS: &[(c_long, u8)] = &[
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (libc::SYS_fchmodat2, 2),
    (libc::SYS_mknodat, 2),
];

/// Such calls that exist on one architecture only.
#[cfg(target_arch = "x86_64")]
const PERMISSIONS_HERE: &[(c_long, u8)] = &[
    (libc::SYS_chmod, 1),
    (libc::SYS_mknod, 1),
    (libc::SYS_creat, 1),
];
/// Such calls that exist on one architecture only.
#[cfg(not(target_arch = "x86_64"))]
const PERMISSIONS_HERE: &[(c_long, u8)] = &[];

/// Calls that create a file if their flags say so, and the position of the flags. The
/// permissions are the next argument.
const OPENING: &[(c_long, u8)] = &[
    (libc::SYS_openat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1),
];

/// The sockets that the filter allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SeccompSocketAccess {
    /// Those of our own network namespace.
    OfTheNamespace,
    /// Only connected pairs, because nothing else keeps the network away.
    OnlyPairs,
}

/// Filters the system calls of this process and of all processes it will start.
pub(super) fn restrict(sockets: SeccompSocketAccess) -> Result<(), SandboxStepError> {
    let failed =
        |cause: &dyn std::fmt::Display| SandboxStepError::new("seccomp", cause.to_string());
    for program in programs(sockets).map_err(|cause| failed(&cause))? {
        apply_filter(&program).map_err(|cause| failed(&cause))?;
    }
    Ok(())
}

fn programs(sockets: SeccompSocketAccess) -> Result<Vec<BpfProgram>, BackendError> {
    let arch = std::env::consts::ARCH.try_into()?;
    let errno = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter = SeccompFilter::new(by_argument(sockets)?, SeccompAction::Allow, errno, arch)?;
    Ok(vec![search::program(&by_number()), filter.try_into()?])
}

/// Returns the calls that are always refused, and two that are reported as unknown so that
/// programs fall back to the older ones, whose flags and permissions a filter can see.
fn by_number() -> Vec<(u32, libc::c_int)> {
    let refused = REFUSED.iter().chain(REFUSED_HERE);
    let refused = refused.map(|number| (*number, libc::EPERM));
    refused
        .chain([libc::SYS_clone3, libc::SYS_openat2].map(|number| (number, libc::ENOSYS)))
        .filter_map(|(number, errno)| Some((u32::try_from(number).ok()?, errno)))
        .collect()
}

fn by_argument(
    sockets: SeccompSocketAccess,
) -> Result<BTreeMap<c_long, Vec<SeccompRule>>, BackendError> {
    let mut unshare = namespace_flags()?;
    unshare.push(flag(NEW_TIME)?);
    // Typing into a terminal, and the virtual console's own requests.
    let requests = [libc::TIOCSTI, libc::TIOCLINUX];
    let requests = requests.map(|request| rule(&[(1, Op::Eq, request)]));
    let sockets = match sockets {
        SeccompSocketAccess::OnlyPairs => Vec::new(),
        SeccompSocketAccess::OfTheNamespace => odd_sockets()?,
    };
    let mut rules = foreign_rights()?;
    rules.extend([
        (libc::SYS_clone, namespace_flags()?),
        (libc::SYS_unshare, unshare),
        (
            libc::SYS_ioctl,
            requests.into_iter().collect::<Result<_, _>>()?,
        ),
        (libc::SYS_personality, vec![odd_personalities()?]),
        (libc::SYS_socket, sockets),
    ]);
    Ok(rules)
}

/// Refuses the bits that make a program run with the rights of its file's owner or group.
/// Inside they have no effect, but the file remains, and others on the machine could run
/// it.
fn foreign_rights() -> Result<BTreeMap<c_long, Vec<SeccompRule>>, BackendError> {
    let bits = [libc::S_ISUID, libc::S_ISGID].map(u64::from);
    // The second flag creates a file without a name.
    let making = [libc::O_CREAT, libc::O_TMPFILE & !libc::O_DIRECTORY];
    let making = making.map(|flag| u64::from(flag.cast_unsigned()));
    let mut rules = BTreeMap::new();
    for (call, place) in PERMISSIONS.iter().chain(PERMISSIONS_HERE) {
        let bits = bits.map(|bit| rule(&[(*place, Op::MaskedEq(bit), bit)]));
        rules.insert(*call, bits.into_iter().collect::<Result<_, _>>()?);
    }
    for (call, place) in OPENING {
        let mut refused = Vec::new();
        for flag in making {
            for bit in bits {
                let flags = (*place, Op::MaskedEq(flag), flag);
                refused.push(rule(&[flags, (*place + 1, Op::MaskedEq(bit), bit)])?);
            }
        }
        rules.insert(*call, refused);
    }
    Ok(rules)
}

fn namespace_flags() -> Result<Vec<SeccompRule>, BackendError> {
    let flags = NAMESPACES
        .iter()
        .map(|bits| u64::from(bits.cast_unsigned()));
    flags.map(flag).collect()
}

/// Matches if this bit is set in the first argument.
fn flag(bit: u64) -> Result<SeccompRule, BackendError> {
    rule(&[(0, Op::MaskedEq(bit), bit)])
}

/// Refuses all but the ordinary personality, the one without address randomisation that
/// debuggers need, and queries.
fn odd_personalities() -> Result<SeccompRule, BackendError> {
    let no_randomize = u64::from(libc::ADDR_NO_RANDOMIZE.cast_unsigned());
    let usual = [0, no_randomize, 0xffff_ffff];
    rule(&usual.map(|usual| (0, Op::Ne, usual)))
}

/// Refuses all but local sockets, internet sockets, and queries about network interfaces.
fn odd_sockets() -> Result<Vec<SeccompRule>, BackendError> {
    let family = |family: libc::c_int| u64::from(family.cast_unsigned());
    let usual = [
        libc::AF_UNIX,
        libc::AF_INET,
        libc::AF_INET6,
        libc::AF_NETLINK,
    ];
    let raw = u64::from(libc::SOCK_RAW.cast_unsigned());
    Ok(vec![
        rule(&usual.map(|usual| (0, Op::Ne, family(usual))))?,
        rule(&[
            (0, Op::Eq, family(libc::AF_NETLINK)),
            (2, Op::Ne, family(libc::NETLINK_ROUTE)),
        ])?,
        rule(&[
            (0, Op::Ne, family(libc::AF_NETLINK)),
            (1, Op::MaskedEq(0xf), raw),
        ])?,
    ])
}

/// Matches if all conditions hold. Arguments are compared as 32-bit values, as the kernel
/// reads them.
fn rule(conditions: &[(u8, Op, u64)]) -> Result<SeccompRule, BackendError> {
    let conditions = conditions
        .iter()
        .map(|(place, op, value)| SeccompCondition::new(*place, Width::Dword, op.clone(), *value))
        .collect::<Result<_, _>>()?;
    SeccompRule::new(conditions)
}

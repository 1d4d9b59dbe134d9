//! Drops all privileges, with no way to gain new ones.

use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_capabilities_secure_bits,
    set_no_new_privs,
};

use super::step::{SandboxStepContext, SandboxStepError};

/// Gives up every capability permanently, including for programs started by root.
pub(super) fn drop_all() -> Result<(), SandboxStepError> {
    let step = "privileges";
    clear_ambient_capability_set().at(step, "clear the ambient capabilities")?;
    let bits = CapabilitiesSecureBits::NO_ROOT
        | CapabilitiesSecureBits::NO_ROOT_LOCKED
        | CapabilitiesSecureBits::NO_SETUID_FIXUP
        | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
    set_capabilities_secure_bits(bits).at(step, "lock the capability rules")?;
    for number in 0..u64::BITS {
        let capability = CapabilitySet::from_bits_retain(1 << number);
        match remove_capability_from_bounding_set(capability) {
            Ok(()) => {}
            // The kernel has no capability of this number, so none above it either.
            Err(rustix::io::Errno::INVAL) => break,
            Err(cause) => return Err(cause).at(step, "empty the capability bounds"),
        }
    }
    let nothing = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, nothing).at(step, "drop all capabilities")?;
    no_new()
}

/// Ensures that no program started from here gains privileges, by a set-user-id bit or
/// otherwise.
pub(super) fn no_new() -> Result<(), SandboxStepError> {
    set_no_new_privs(true).at("no new privileges", "give up new privileges")
}

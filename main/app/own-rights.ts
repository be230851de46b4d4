/** Keeps the environment from taking a user's rights to the files that the user's own process makes. */

/** Of the owner, in a mode. */
const ownRights = 0o700;

/**
 * Under a mask like 277 or 777 a process cannot write what it has just made: a vault was left empty, and ~/.ssh closed to its
 * owner. What the mask takes from others stays taken.
 */
export function keepOwnRights(): void {
  process.umask(process.umask(ownRights) & ~ownRights);
}

/** When a process that runs until it is stopped also ends with the process that started it. */

/** A shell with more than one command may end before this process does. npm quotes the arguments. */
const npmScript =
  /^'?(keyhearth|node (--import \.\/main\/packaging\/check-node\.mjs )?main\/start\.ts)'?( [^&;|<>()`$]*)?$/;

/** Holds the id of the process that `become` left in front of this one. */
export const launcherVariable = 'KEYHEARTH_LAUNCHER';

/**
 * True if the end of the parent is a signal to end. The parent is then npm's shell with this one command, or
 * it waits for this process and does nothing else.
 * @param parent its process id.
 */
export const endsWithParent = (
  environment: Readonly<Record<string, string | undefined>>,
  parent: number,
): boolean =>
  npmScript.test(environment['npm_lifecycle_script'] ?? '') ||
  environment[launcherVariable] === String(parent);
